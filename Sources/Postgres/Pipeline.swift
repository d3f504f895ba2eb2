import Base
import EventLoop

/// The two directions of a connection's pipeline.
extension PostgresConnection {
    /// How many reads share a transaction at most: enough to save system calls, and few enough that
    /// the server works on the next ones while these are being answered.
    static let sharedReadsMax = 16

    /// Sends what was asked for in this turn: a sync after each write, and one for the reads
    /// between them.
    func sendWaiting() {
        isSendScheduled = false
        guard !isBroken, script == nil else { return }
        var unsent = waiting[...]
        waiting = []
        var readsBeforeSync = 0
        while let call = unsent.popFirst() {
            var isFine = true
            if call.isAlone, readsBeforeSync > 0 {
                isFine = sendSync(for: nil)
                readsBeforeSync = 0
            }
            isFine = isFine && send(call)
            if call.isAlone {
                isFine = isFine && sendSync(for: call.isRead ? nil : call)
            } else {
                readsBeforeSync += call.queries.count
                if readsBeforeSync >= PostgresConnection.sharedReadsMax {
                    isFine = isFine && sendSync(for: nil)
                    readsBeforeSync = 0
                }
            }
            guard isFine else {
                waiting = Array(unsent)
                return lose()
            }
        }
        guard readsBeforeSync == 0 || sendSync(for: nil) else { return lose() }
        flush()
    }

    /// False if libpq refuses, which means that the connection is lost.
    private func send(_ call: Call) -> Bool {
        call.isSent = true
        for (statement, values) in call.queries {
            do {
                try parameters.encode(values)
            } catch {
                // The statements before this one are on their way; the rest is left out.
                call.fail(error)
                break
            }
            if prepared.insert(statement.name).inserted {
                steps.append(Step(kind: .prepare(statement.name), call: call))
                call.stepsLeft += 1
                guard wire.sendPrepare(statement, values.map(\.typeID)) else { return false }
            }
            steps.append(Step(kind: .query(statement.name), call: call))
            call.stepsLeft += 1
            guard wire.sendExecute(statement, parameters) else { return false }
        }
        // Nothing was sent that could answer it.
        if call.stepsLeft == 0, call.isRead { finish(call) }
        return true
    }

    private func sendSync(for call: Call?) -> Bool {
        steps.append(Step(kind: .sync, call: call))
        return wire.sendSync()
    }

    /// Takes every answer that has arrived.
    func receive() {
        var nothingInARow = 0
        // libpq says once that a statement's answers have ended, and then that nothing is left.
        while !isBroken, nothingInARow < 2, !wire.isBusy {
            guard let answer = wire.next() else {
                nothingInARow = endOfAnswers() ? 0 : nothingInARow + 1
                continue
            }
            nothingInARow = 0
            if script != nil { receiveForScript(answer) } else { take(answer) }
        }
    }

    private func take(_ answer: LibpqConnection.Answer) {
        guard var step = steps.first, !step.isAnswered else {
            if case .lost = answer { return lose() }
            return lose(.protocolViolation("an answer nobody asked for"))
        }
        switch (answer, step.kind) {
        case (.synchronised, .sync):
            _ = steps.takeFirst()
            if let call = step.call { finish(call) }
            return
        case (.refused(let error), .sync):
            // The commit failed. The sync itself is still to come.
            step.call?.fail(error)
            return
        case (.rows, .prepare(let name)): unpreparable[name] = nil
        case (.rows(let rows), .query): step.call?.rows.append(rows)
        case (.refused(let error), .query(let name)):
            // 26000, not prepared: an earlier call was to do that, and knows why it failed.
            step.call?.fail(error.code == "26000" ? unpreparable[name] ?? error : error)
        case (.aborted, .query): step.call?.fail(.aborted)
        case (.refused(let error), .prepare(let name)):
            prepared.remove(name)
            unpreparable[name] = error
            step.call?.fail(error)
        case (.aborted, .prepare(let name)):
            prepared.remove(name)
            step.call?.fail(.aborted)
        case (.lost, _): return lose()
        case (.unexpected(let what), _): return lose(.protocolViolation(what))
        case (.synchronised, _), (.rows, .sync), (.aborted, .sync):
            return lose(.protocolViolation("an answer out of order"))
        }
        step.isAnswered = true
        steps.replaceFirst(with: step)
    }

    /// Goes on to the next step, if the first one is answered.
    private func endOfAnswers() -> Bool {
        if script != nil {
            endScript()
            return true
        }
        guard let step = steps.first, step.isAnswered else { return false }
        _ = steps.takeFirst()
        guard let call = step.call else { return true }
        call.stepsLeft -= 1
        // A write is answered by its sync, when it's durable.
        if call.stepsLeft == 0, call.isRead { finish(call) }
        return true
    }
}
