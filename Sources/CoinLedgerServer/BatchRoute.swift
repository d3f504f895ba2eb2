import Base
import CoinLedger
import CoinLedgerAPI
import CoinLedgerService
import EventStore
package import HTTPServer

extension CoinLedgerApp {
    /// Commands in one request.
    private static let commandsMax = 10_000

    /// Lines that are under way or whose outcome waits for that of a line before it.
    private static let linesAtOnce = 512

    func batch(
        _ request: HTTPRequest, _ query: QueryParameters
    ) async throws(InvalidRequest) -> HTTPResponse {
        let all = CommandKind.allCases.reduce(into: APIScopes()) { $0.formUnion($1.scopes) }
        let scopes = try await scopes(of: request, anyOf: all)
        let isDryRun = try query.bool("dryRun")
        let lines = BatchLine.lines(of: request.body)
        guard lines.count <= CoinLedgerApp.commandsMax else {
            throw InvalidRequest(
                Problem(
                    .tooManyCommands,
                    "A batch has at most \(CoinLedgerApp.commandsMax) commands."))
        }
        return HTTPResponse(
            status: 200, headers: [("Content-Type", "application/x-ndjson")],
            producer: { write in
                await self.carryOut(lines, scopes: scopes, isDryRun: isDryRun, write)
            })
    }

    /// Writes outcomes in the order of the lines, while later lines are under way.
    private func carryOut(
        _ lines: [BatchLine], scopes: APIScopes, isDryRun: Bool, _ write: HTTPBodyWriter
    ) async {
        await withTaskGroup(of: (index: Int, outcome: [UInt8]).self) { group in
            var early: [Int: [UInt8]] = [:]
            var started = 0
            var written = 0
            while written < lines.count {
                while started < min(lines.count, written + CoinLedgerApp.linesAtOnce) {
                    let (index, line) = (started, lines[started])
                    // Started at once, so that commands reach the writer of their account's lane in
                    // the order of their lines.
                    group.addImmediateTask {
                        (index, await self.outcome(of: line, scopes: scopes, isDryRun: isDryRun))
                    }
                    started += 1
                }
                guard let (index, outcome) = await group.next() else { return }
                early[index] = outcome
                var ready: [UInt8] = []
                while let next = early.removeValue(forKey: written) {
                    ready += next
                    written += 1
                }
                // Nobody reads on: what isn't under way is left to the next attempt.
                if !ready.isEmpty, !(await write(ready)) { return }
            }
        }
    }

    /// One line, as it's written.
    private func outcome(
        of line: BatchLine, scopes: APIScopes, isDryRun: Bool
    ) async -> [UInt8] {
        do throws(InvalidRequest) {
            let command = try line.command(scopes: scopes, isDryRun: isDryRun)
            let answered = try await carryOut(command)
            return line.outcome(answered.answer, isReplayed: answered.isReplayed)
        } catch {
            return line.outcome(Answer(error.problem), isReplayed: false)
        }
    }
}

/// One line of a batch.
private struct BatchLine: Sendable {
    /// 1, 2, 3 … within the body, blank lines counted.
    let number: Int
    let text: ArraySlice<UInt8>

    private static let ownFields = ["command", "accountId", "idempotencyKey"]

    /// The lines of a body that aren't blank.
    static func lines(of body: [UInt8]) -> [BatchLine] {
        body.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
            .compactMap { index, text in
                let isBlank = text.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
                return isBlank ? nil : BatchLine(number: index + 1, text: text)
            }
    }

    func command(
        scopes: APIScopes, isDryRun: Bool
    ) throws(InvalidRequest) -> CommandRequest {
        let object = try RequestBody.object(Array(text))
        guard let name = object["command"]?.string, let kind = CommandKind(rawValue: name) else {
            throw RequestBody.invalid("command", "The line must name a command that is known here.")
        }
        guard !scopes.isDisjoint(with: kind.scopes) else {
            throw InvalidRequest(KeyRing.Denial.forbidden.problem)
        }
        let account = try CoinLedgerApp.account(object["accountId"]?.string)
        let own = BatchLine.ownFields + [kind.targetField].compactMap(\.self)
        let target = try kind.targetField.map { name throws(InvalidRequest) in
            try CoinLedgerApp.target(object[name]?.string, kind)
        }
        let rest = object.members.filter { !own.contains($0.name) }
        return CommandRequest(
            kind: kind, account: account, target: target,
            body: try RequestBody(JSONObject(rest), fields: kind.fields),
            key: try key(object, account), scopes: scopes, isDryRun: isDryRun)
    }

    private func key(
        _ object: JSONObject, _ account: AccountID
    ) throws(InvalidRequest) -> IdempotencyKey {
        guard let value = object["idempotencyKey"] else {
            return try IdempotencyKey(account: account, texts: [])
        }
        // What isn't text can't be a key.
        return try IdempotencyKey(account: account, texts: [value.string ?? ""])
    }

    func outcome(_ answer: Answer, isReplayed: Bool) -> [UInt8] {
        let head =
            #"{"line":\#(number),"status":\#(answer.status),"replayed":\#(isReplayed),"body":"#
        return Array(head.utf8) + answer.body + Array("}\n".utf8)
    }
}

extension HTTPLimits {
    /// What the API lets come in: batches may be larger than anything else, and notifications, which
    /// anybody may post, are smaller.
    package static let api: HTTPLimits = {
        var limits = HTTPLimits()
        limits.bodyBytesMaxByPath[Route.batch.template] = 4 * 1024 * 1024
        limits.bodyBytesMaxByPath[Route.receiveNotification.template] = 256 * 1024
        return limits
    }()
}
