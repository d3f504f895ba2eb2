import Base
import HTTPServer

extension ServerAPI {
    private static let dayMilliseconds: Int64 = 86_400_000
    private static let productionDays: Int64 = 180
    private static let sandboxDays: Int64 = 30

    func requestTestNotification(_ call: ServerAPICall) throws(ServerAPIError) -> HTTPResponse {
        let token: String?
        do throws(StandInStoreError) {
            token = try store.requestTestNotification(call.environment)
        } catch {
            throw .full
        }
        guard let token else { throw .noNotificationURL }
        return .json(["testNotificationToken": .string(token)])
    }

    func testNotificationStatus(_ call: ServerAPICall) throws(ServerAPIError) -> HTTPResponse {
        guard call.id.utf8.count <= RequestFields.textBytesMax else { throw .testToken }
        let found = store.notifications.list(limit: 1) {
            $0.testToken == call.id && $0.notification.environment == call.environment
        }
        guard let sent = found.first, !sent.attempts.isEmpty else { throw .unknownTestToken }
        return .json(sent.json)
    }

    /// Get Notification History: what was sent at least once, oldest first.
    func notificationHistory(_ call: ServerAPICall) throws(ServerAPIError) -> HTTPResponse {
        let query = try call.query(["paginationToken"])
        let filter = try NotificationFilter(
            try call.body(NotificationFilter.fields), environment: call.environment)
        let days =
            call.environment == StoreName.production
            ? ServerAPI.productionDays : ServerAPI.sandboxDays
        guard filter.start >= store.now() - days * ServerAPI.dayMilliseconds else {
            throw .startTooEarly
        }
        let ordinal = try ServerAPI.ordinal(query["paginationToken"])
        let found = store.notifications.list(
            after: ordinal, limit: ServerAPI.pageLength + 1, where: filter.accepts)
        let page = found.prefix(ServerAPI.pageLength)
        let hasMore = found.count > page.count
        var answer = JSONObject()
        if hasMore, let last = page.last {
            answer.append("paginationToken", .string(ServerAPI.token(after: last.ordinal)))
        }
        answer.append("hasMore", .bool(hasMore))
        answer.append("notificationHistory", .array(page.map(\.json)))
        return .json(.object(answer))
    }

    private static func token(after ordinal: Int) -> String {
        Base64.encode(Array("n:\(ordinal)".utf8), .url)
    }

    private static func ordinal(_ token: String?) throws(ServerAPIError) -> Int {
        guard let token else { return -1 }
        guard let bytes = Base64.decode(token, .url) else { throw .paginationToken }
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.hasPrefix("n:"), let ordinal = Int(text.dropFirst(2)), ordinal >= 0,
            ordinal < .max
        else { throw .paginationToken }
        return ordinal
    }
}

/// Which notifications of a history are wanted.
private struct NotificationFilter {
    let start: Int64
    private let end: Int64
    private let type: String?
    private let subtype: String?
    private let transactionID: String?
    private let onlyFailures: Bool
    private let environment: String

    static let fields: Set<String> = [
        "startDate", "endDate", "notificationType", "notificationSubtype", "transactionId",
        "onlyFailures",
    ]

    init(_ body: JSONObject, environment: String) throws(ServerAPIError) {
        guard let start = body["startDate"]?.integer, start >= 0 else { throw .startDate }
        guard let end = body["endDate"]?.integer, end >= 0 else { throw .endDate }
        guard start <= end else { throw .startAfterEnd }
        self.start = start
        self.end = end
        type = try NotificationFilter.text(body["notificationType"], .notificationType)
        subtype = try NotificationFilter.text(body["notificationSubtype"], .notificationType)
        guard subtype == nil || type != nil else { throw .notificationType }
        transactionID = try NotificationFilter.text(body["transactionId"], .transactionID)
        guard type == nil || transactionID == nil else { throw .severalFilters }
        switch body["onlyFailures"] {
        case nil, .null: onlyFailures = false
        case .bool(let value): onlyFailures = value
        default: throw .bad("Invalid value of onlyFailures.")
        }
        self.environment = environment
    }

    func accepts(_ sent: SentNotification) -> Bool {
        let notification = sent.notification
        let ids = [notification.transactionID, notification.originalTransactionID]
        return !sent.attempts.isEmpty && notification.environment == environment
            && notification.signedDate >= start && notification.signedDate <= end
            && (type == nil || type == notification.type)
            && (subtype == nil || subtype == notification.subtype)
            && (transactionID == nil || ids.contains(transactionID))
            && (!onlyFailures || sent.stage != .delivered)
    }

    private static func text(
        _ value: JSON?, _ error: ServerAPIError
    ) throws(ServerAPIError) -> String? {
        switch value {
        case nil, .null: return nil
        case .string(let text) where !text.isEmpty: return text
        default: throw error
        }
    }
}
