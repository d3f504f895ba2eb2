import EventLoop

/// A script that is being executed.
final class ScriptRun {
    let deadline: Int64
    var failure: PostgresError?
    private var continuation: CheckedContinuation<PostgresError?, Never>?

    init(deadline: Int64, _ continuation: CheckedContinuation<PostgresError?, Never>) {
        (self.deadline, self.continuation) = (deadline, continuation)
    }

    /// Answers, the first time it's called.
    func finish(_ failure: PostgresError?) {
        continuation?.resume(returning: failure)
        continuation = nil
    }
}

extension PostgresConnection {
    /// How long a script may take, if nothing else is said.
    package static let scriptTimeoutMilliseconds: Int64 = 300_000

    /// Executes statements separated by semicolons, all in one transaction unless they say
    /// otherwise; for migrations, on a connection that does nothing else meanwhile.
    ///
    /// The configuration's `statementTimeoutMilliseconds` holds for each of them.
    ///
    /// - Throws: `.unavailable` if the connection isn't idle, else the first failure.
    package func script(
        _ sql: String, timeoutMilliseconds: Int64 = PostgresConnection.scriptTimeoutMilliseconds
    ) async throws(PostgresError) {
        loop.preconditionInLoop()
        guard !isBroken else { throw .connectionLost(sent: false) }
        guard isIdle else { throw .unavailable("the connection is busy") }
        let failure = await withCheckedContinuation { continuation in
            let deadline = EventLoop.now() + timeoutMilliseconds
            script = ScriptRun(deadline: deadline, continuation)
            guard wire.endPipeline(), wire.sendScript(sql) else { return lose() }
            flush()
            watch(until: deadline)
        }
        if let failure { throw failure }
    }

    func receiveForScript(_ answer: LibpqConnection.Answer) {
        switch answer {
        case .rows: break
        case .refused(let error): script?.failure = script?.failure ?? error
        case .lost: lose()
        case .synchronised, .aborted: lose(.protocolViolation("an answer out of order"))
        // COPY would wait for data.
        case .unexpected(let what): lose(.protocolViolation(what))
        }
    }

    func endScript() {
        guard let ended = script else { return }
        script = nil
        guard wire.beginPipeline() else {
            ended.finish(ended.failure)
            return lose()
        }
        ended.finish(ended.failure)
    }
}
