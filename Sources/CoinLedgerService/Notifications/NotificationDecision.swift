import Base
import CoinLedger
import EventStore

/// What is to become of a notification after an attempt.
enum NotificationDecision: Hashable, Sendable {
    case end(NotificationEnding)
    /// A purchase of which nobody knows whose it is.
    case unclaimed
    /// Something isn't there now: once more a bounded number of times.
    case retry(reason: String)
    /// Not now, however often.
    case postpone(until: Timestamp, reason: String)

    static func done(_ outcome: String, _ detail: JSONObject? = nil) -> NotificationDecision {
        .end(.done(outcome, detail: detail?.text))
    }

    static func dead(_ outcome: String, _ detail: JSONObject? = nil) -> NotificationDecision {
        .end(.dead(outcome, detail: detail?.text))
    }

    static let ledgerUnavailable = NotificationDecision.retry(reason: "ledger_unavailable")
    static let overloaded = NotificationDecision.retry(reason: "overloaded")
}

extension JSONObject {
    var text: String { String(decoding: JSON.object(self).bytes, as: UTF8.self) }
}
