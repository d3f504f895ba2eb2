import AppStoreConnection
import CoinLedger
import CoinLedgerService
import EventLoop
import PostgresEventStore

/// `coinledger app-store catch-up`
enum CatchUpAction {
    /// There's time: a busy store is waited for.
    private static let deadlineMilliseconds: Int64 = 600_000
    private static let attemptsMax = 60

    static func run(_ settings: Settings) throws -> Int32 {
        let since = try AppStoreTools.instant(
            try settings.required(AppStoreCommand.since), AppStoreCommand.since)
        let until =
            try settings.optional(AppStoreCommand.until)
            .map { try AppStoreTools.instant($0, AppStoreCommand.until) } ?? SystemClock.now()
        guard since < until else {
            throw UsageError("\(AppStoreCommand.since.name): \(since) isn't before \(until)")
        }
        let environment = try AppStoreTools.environment(settings)
        let onlyFailures = try !settings.isOn(AppStoreCommand.all)
        let tools = try AppStoreTools(settings) { configuration in
            configuration.deadlineMilliseconds = deadlineMilliseconds
            configuration.attemptsMax = attemptsMax
        }
        defer { tools.stop() }
        return try DatabaseOptions.withStore(settings) { store, loop in
            let intake = tools.intake(store)
            let catchUp = NotificationCatchUp(
                fetch: { (query, page) async throws(AppStoreServerError) in
                    try await tools.api.notificationHistory(query, page: page, in: environment)
                },
                accept: { (payload) async throws(NotificationIntake.Failure) in
                    try await intake.accept(payload)
                },
                sleep: { await loop.sleep(milliseconds: $0) })
            do throws(NotificationCatchUp.Stopped) {
                let totals = try await catchUp.run(
                    since: since, until: until, onlyFailures: onlyFailures,
                    report: { Output.print($0.line) })
                Output.print(totals.line)
                return totals.untrusted == 0 ? 0 : 1
            } catch {
                Output.print(error.totals.line)
                Output.error(
                    "coinledger app-store: \(error.sentence) "
                        + "Go on with --since \(error.resumeAt)\n")
                return error.exitStatus
            }
        }
    }
}

extension NotificationCatchUp.Item {
    fileprivate var line: String {
        let name =
            claim.map { "\($0.signedAt)  \($0.type)  \($0.uuid)" }
            ?? "a notification without a name"
        let attempts =
            sendAttempts.last.map { "\(sendAttempts.count) attempts, last \($0.printable)" }
            ?? "no attempt"
        return "\(name)  \(outcome.text)  (\(attempts))\n"
    }
}

extension NotificationCatchUp.Outcome {
    fileprivate var text: String {
        switch self {
        case .taken(let result): result.rawValue
        case .untrusted(let code): "not believed: \(code)"
        }
    }
}

extension NotificationCatchUp.Totals {
    fileprivate var line: String {
        "\(accepted) accepted, \(duplicate) known already, \(ignored) of other apps, "
            + "\(untrusted) not believed\n"
    }
}

extension NotificationCatchUp.Stopped {
    fileprivate var sentence: String {
        switch reason {
        case .store(let error): error.sentence
        case .ledger: "The ledger takes no notifications now."
        case .revocationUnknown: "Whether a certificate was revoked can't be asked now."
        }
    }

    fileprivate var exitStatus: Int32 {
        switch reason {
        case .store(let error): error.exitStatus
        case .ledger, .revocationUnknown: AppStoreCommand.laterStatus
        }
    }
}
