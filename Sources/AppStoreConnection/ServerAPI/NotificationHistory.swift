import Base

/// A notification that the store has sent, or has tried to.
package struct NotificationRecord: Hashable, Sendable {
    /// As it was posted; not verified here.
    package let signedPayload: String
    package let sendAttempts: [DeliveryAttempt]

    package init(signedPayload: String, sendAttempts: [DeliveryAttempt]) {
        self.signedPayload = signedPayload
        self.sendAttempts = sendAttempts
    }

    init(_ fields: AnswerFields) throws(AppStoreServerError) {
        signedPayload = try fields.required("signedPayload", fields.text("signedPayload"))
        sendAttempts = try DeliveryAttempt.all(fields)
    }
}

/// One time that the store tried to deliver a notification.
package struct DeliveryAttempt: Hashable, Sendable {
    /// Milliseconds since 1970.
    package let attemptedAt: Int64
    /// In Apple's words: `SUCCESS`, `TIMED_OUT`, `UNSUCCESSFUL_HTTP_RESPONSE_CODE` and others.
    package let result: String

    package static let success = "SUCCESS"

    package init(attemptedAt: Int64, result: String) {
        self.attemptedAt = attemptedAt
        self.result = result
    }

    static func all(_ fields: AnswerFields) throws(AppStoreServerError) -> [DeliveryAttempt] {
        var attempts: [DeliveryAttempt] = []
        for fields in try fields.objects("sendAttempts") ?? [] {
            attempts.append(
                DeliveryAttempt(
                    attemptedAt: try fields.required("attemptDate", fields.integer("attemptDate")),
                    result: try fields.required(
                        "sendAttemptResult", fields.text("sendAttemptResult"))))
        }
        return attempts
    }
}

/// What has become of a test notification.
package struct TestNotification: Hashable, Sendable {
    /// As it's posted, if the store says so.
    package let signedPayload: String?
    package let sendAttempts: [DeliveryAttempt]

    package init(signedPayload: String?, sendAttempts: [DeliveryAttempt]) {
        self.signedPayload = signedPayload
        self.sendAttempts = sendAttempts
    }

    init(_ fields: AnswerFields) throws(AppStoreServerError) {
        signedPayload = try fields.text("signedPayload")
        sendAttempts = try DeliveryAttempt.all(fields)
    }
}

/// Which notifications are asked for. The store keeps those of 180 days, in the sandbox of 30.
package struct NotificationHistoryQuery: Hashable, Sendable {
    /// Milliseconds since 1970, the first and the last that count.
    package var startDate: Int64
    package var endDate: Int64
    /// Those whose delivery failed, or hasn't succeeded yet.
    package var onlyFailures = false
    /// Of one transaction, or else of one kind: the store takes no two filters at once.
    package var transactionID: String?
    package var notificationType: String?
    package var notificationSubtype: String?

    package init(startDate: Int64, endDate: Int64, onlyFailures: Bool = false) {
        self.startDate = startDate
        self.endDate = endDate
        self.onlyFailures = onlyFailures
    }

    var json: JSON {
        var members = JSONObject([
            .init("startDate", .integer(startDate)), .init("endDate", .integer(endDate)),
        ])
        if onlyFailures { members.append("onlyFailures", .bool(true)) }
        members.append("transactionId", transactionID.map { .string($0) })
        members.append("notificationType", notificationType.map { .string($0) })
        members.append("notificationSubtype", notificationSubtype.map { .string($0) })
        return .object(members)
    }
}

/// Some of the notifications that were asked for, up to 20.
package struct NotificationPage: Hashable, Sendable {
    package let notifications: [NotificationRecord]
    /// What to ask for next; nil after the last page.
    package let next: String?

    package init(notifications: [NotificationRecord], next: String?) {
        self.notifications = notifications
        self.next = next
    }

    init(_ fields: AnswerFields) throws(AppStoreServerError) {
        var notifications: [NotificationRecord] = []
        for fields in try fields.objects("notificationHistory") ?? [] {
            notifications.append(try NotificationRecord(fields))
        }
        self.notifications = notifications
        let hasMore = try fields.required("hasMore", fields.bool("hasMore"))
        next =
            hasMore
            ? try fields.required("paginationToken", fields.text("paginationToken")) : nil
    }
}
