import AppStore
import AppStoreConnection
import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import PostgresEventStore

/// `coinledger app-store test-notification`
enum TestNotificationAction {
    static func run(_ settings: Settings) throws -> Int32 {
        let environment = try AppStoreTools.environment(settings)
        let wait = try settings.integer(AppStoreCommand.wait, in: 1...600) * 1000
        let tools = try AppStoreTools(settings)
        defer { tools.stop() }
        return try DatabaseOptions.withStore(settings) { store, loop in
            var clock = RetryClock.system
            // The database's connections belong to the loop.
            clock.sleep = { await loop.sleep(milliseconds: $0) }
            let check = TestNotificationCheck(
                request: { () async throws(AppStoreServerError) in
                    try await tools.api.requestTestNotification(in: environment)
                },
                status: { (token) async throws(AppStoreServerError) in
                    try await tools.api.testNotification(token, in: environment)
                },
                find: { (id) async throws(EventStoreError) in try await store.notification(id) },
                clock: clock)
            do throws(TestNotificationCheck.Failure) {
                let verdict = try await check.run(waitMilliseconds: wait)
                Output.print(verdict.sentence + "\n")
                return verdict.isGood ? 0 : 1
            } catch {
                switch error {
                case .store(let error):
                    Output.error("coinledger app-store: \(error.sentence)\n")
                    return error.exitStatus
                case .ledger:
                    Output.error("coinledger app-store: The ledger can't be read.\n")
                    return AppStoreCommand.laterStatus
                }
            }
        }
    }
}

extension TestNotificationCheck.Verdict {
    fileprivate var isGood: Bool {
        switch self {
        case .arrived(let kept): kept.state == .done
        case .noURL, .notSent, .notDelivered, .badlyAnswered, .elsewhere, .notWorkedOn,
            .unconfirmed, .unreadable:
            false
        }
    }

    fileprivate var sentence: String {
        switch self {
        case .arrived(let kept):
            "\(kept.id) arrived at \(kept.received.receivedAt), signed at "
                + "\(kept.received.signedAt): \(kept.received.type), "
                + "\(kept.state.rawValue), \(kept.outcome ?? "without an outcome")."
        case .noURL: "App Store Connect has no URL for notifications of this environment."
        case .notSent: "The store hasn't sent the notification in time."
        case .notDelivered(let attempt):
            "The store couldn't deliver the notification: \(attempt.explained)"
        case .badlyAnswered(let attempt):
            "The notification arrived, but the store had no good answer: \(attempt.explained)"
        case .elsewhere(let id):
            "The store has delivered \(id), but not into this ledger: does the URL in App Store "
                + "Connect lead to its service, and does its catalogue have the app?"
        case .notWorkedOn(let id):
            "\(id) arrived, but nobody has worked on it: is the service running?"
        case .unconfirmed(let id):
            "\(id) arrived, but the store hasn't said yet whether it has its answer."
        case .unreadable: "The store's word about the notification can't be read."
        }
    }
}

extension DeliveryAttempt {
    /// The store's word for what went wrong, and what it means.
    ///
    /// Source: developer.apple.com, sendAttemptResult.
    fileprivate var explained: String {
        let meaning =
            switch result {
            case "TIMED_OUT": "the server didn't answer in time."
            case "TLS_ISSUE": "the server's certificate or TLS isn't accepted."
            case "CIRCULAR_REDIRECT": "the server sends on and on."
            case "NO_RESPONSE": "the server gave no answer."
            case "SOCKET_ISSUE": "the connection failed."
            case "UNSUPPORTED_CHARSET": "the answer's character set isn't known."
            case "INVALID_RESPONSE": "the answer isn't one of HTTP."
            case "PREMATURE_CLOSE": "the server closed the connection."
            case "UNSUCCESSFUL_HTTP_RESPONSE_CODE": "the answer wasn't one of 200 to 206."
            default: "see Apple's documentation of sendAttemptResult."
            }
        return "\(printable), \(meaning)"
    }
}
