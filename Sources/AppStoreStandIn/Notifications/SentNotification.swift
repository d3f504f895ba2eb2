package import Base

/// A notification on its way or at its end.
package struct SentNotification: Hashable, Sendable {
    /// How far it has got.
    package enum Stage: String, Hashable, Sendable {
        /// For its first attempt or the next one.
        case waiting
        case sending
        case delivered
        /// No attempt is left.
        case failed
    }

    /// Its place among all of them.
    package let ordinal: Int
    package let notification: SignedNotification
    /// Of a test notification only.
    package let testToken: String?
    package internal(set) var attempts: [SendAttempt] = []
    package internal(set) var stage = Stage.waiting

    init(ordinal: Int, notification: SignedNotification, testToken: String?) {
        self.ordinal = ordinal
        self.notification = notification
        self.testToken = testToken
    }

    /// As Apple's notification history has it.
    package var json: JSON {
        [
            "signedPayload": .string(notification.signedPayload),
            "sendAttempts": .array(attempts.map(\.json)),
        ]
    }
}

/// How one attempt to send a notification went.
package struct SendAttempt: Hashable, Sendable {
    /// Milliseconds since 1970.
    package let date: Int64
    package let result: SendAttemptResult

    package var json: JSON {
        [
            "attemptDate": .integer(date), "sendAttemptResult": .string(result.rawValue),
        ]
    }
}

/// Source: developer.apple.com, sendAttemptResult.
package enum SendAttemptResult: String, Hashable, Sendable {
    case success = "SUCCESS"
    case timedOut = "TIMED_OUT"
    case tlsIssue = "TLS_ISSUE"
    case socketIssue = "SOCKET_ISSUE"
    case noResponse = "NO_RESPONSE"
    case prematureClose = "PREMATURE_CLOSE"
    case invalidResponse = "INVALID_RESPONSE"
    case unsuccessfulStatus = "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
    case other = "OTHER"
}
