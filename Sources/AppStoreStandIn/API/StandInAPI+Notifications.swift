import Base
import HTTPServer

/// Where notifications go, what goes wrong with them, and what was sent.
extension StandInAPI {
    private static let listMax = 100

    /// Everything below `/notifications`.
    func notifications(
        _ request: HTTPRequest, _ path: [String]
    ) throws(RequestError) -> HTTPResponse {
        switch (request.method, path) {
        case ("GET", []): return try list(request)
        case ("GET", ["target"]): return .json(targets)
        case ("PUT", ["target"]): return try setTarget(request)
        case ("PUT", ["clock"]): return try setClock(request)
        case ("POST", ["faults"]):
            guard store.notifications.add(try NotificationFault(request.body)) else {
                throw .invalid("There are too many faults already.")
            }
            return .json([:], status: 201)
        case ("DELETE", ["faults"]):
            store.notifications.removeFaults()
            return .json([:])
        case ("POST", ["raw"]): return try make(request, sends: false)
        case ("POST", ["send"]): return try make(request, sends: true)
        case ("POST", _) where path.count == 2 && path[1] == "resend":
            guard store.notifications.resend(path[0]) else {
                throw RequestError(
                    status: 404, code: "unknown_notification",
                    message: "It was never sent, was forgotten, or is under way.")
            }
            return .json(["notificationUUID": .string(path[0])], status: 202)
        default: throw .notFound
        }
    }

    private var targets: JSON {
        func url(_ environment: String) -> JSON {
            store.notifications.target(environment).map { .string($0) } ?? .null
        }
        return [
            "production": url(StoreName.production), "sandbox": url(StoreName.sandbox),
            "clockRate": .integer(store.notifications.clockRate),
        ]
    }

    private func setTarget(_ request: HTTPRequest) throws(RequestError) -> HTTPResponse {
        let fields = try RequestFields(request.body, known: ["url", "environment"])
        guard fields.object["url"] != nil else {
            throw .invalid("url is missing; null takes it away.")
        }
        let environment = try fields.text("environment")
        if let environment {
            guard [StoreName.production, StoreName.sandbox].contains(environment) else {
                throw .invalid("environment must be Production or Sandbox.")
            }
        }
        let url = try fields.text("url")
        if let url {
            let isHTTP = ["http://", "https://"].contains { url.hasPrefix($0) }
            guard isHTTP, url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw .invalid("url must be one of HTTP or HTTPS.")
            }
        }
        store.notifications.setTarget(url, environment: environment)
        return .json(targets)
    }

    private func setClock(_ request: HTTPRequest) throws(RequestError) -> HTTPResponse {
        let fields = try RequestFields(request.body, known: ["clockRate"])
        guard let rate = try fields.integer("clockRate", 1...ScheduleClock.rateMax) else {
            throw .invalid("clockRate is missing.")
        }
        store.notifications.setClockRate(rate)
        return .json(targets)
    }

    private func make(
        _ request: HTTPRequest, sends: Bool
    ) throws(RequestError) -> HTTPResponse {
        let notification = try StandInNotification(request.body)
        let made = try fromStore { () throws(StandInStoreError) in
            sends ? try store.send(notification) : try store.sign(notification)
        }
        guard let made else {
            throw RequestError(
                status: 409, code: "no_target", message: "There's no target to send it to.")
        }
        return .json(
            [
                "notificationUUID": .string(made.uuid),
                "signedPayload": .string(made.signedPayload),
            ], status: sends ? 202 : 200)
    }

    private func list(_ request: HTTPRequest) throws(RequestError) -> HTTPResponse {
        let query = try request.queryFields(["after", "limit", "stage", "transactionId"])
        var stage: SentNotification.Stage?
        if let name = query["stage"] {
            stage = SentNotification.Stage(rawValue: name)
            guard stage != nil else {
                throw .invalid("stage must be waiting, sending, delivered or failed.")
            }
        }
        let after = try StandInAPI.number(query["after"], "after", 0...Int64(Int.max - 1))
        let limit = try StandInAPI.number(query["limit"], "limit", 1...Int64(StandInAPI.listMax))
        let transactionID = query["transactionId"]
        let found = store.notifications.list(
            after: after ?? -1, limit: limit ?? StandInAPI.listMax
        ) { sent in
            (stage ?? sent.stage) == sent.stage
                && (transactionID == nil || transactionID == sent.notification.transactionID)
        }
        return .json([
            "idle": .bool(store.notifications.isIdle),
            "notifications": .array(found.map(\.listed)),
        ])
    }

    private static func number(
        _ text: String?, _ name: String, _ range: ClosedRange<Int64>
    ) throws(RequestError) -> Int? {
        guard let text else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            throw .invalid("\(name) must be a whole number in its bounds.")
        }
        return Int(number)
    }
}

extension SentNotification {
    fileprivate var listed: JSON {
        var object = JSONObject([
            .init("ordinal", .integer(Int64(ordinal))),
            .init("notificationUUID", .string(notification.uuid)),
            .init("notificationType", .string(notification.type)),
            .init("environment", .string(notification.environment)),
        ])
        object.append("subtype", notification.subtype.map { .string($0) })
        object.append("transactionId", notification.transactionID.map { .string($0) })
        object.append("stage", .string(stage.rawValue))
        for member in json.object?.members ?? [] { object.append(member.name, member.value) }
        return .object(object)
    }
}

extension StandInNotification {
    /// Reads the body of `POST /notifications/raw`.
    fileprivate init(_ body: [UInt8]) throws(RequestError) {
        let fields = try RequestFields(
            body,
            known: [
                "type", "subtype", "transactionId", "notificationUUID", "signedDate",
                "environment", "consumptionRequestReason", "fault", "innerFault", "payload",
                "data", "transaction",
            ])
        guard let type = try fields.text("type") else { throw .invalid("type is missing.") }
        self.init(type, of: try fields.identifier("transactionId"))
        subtype = try fields.text("subtype")
        uuid = try fields.text("notificationUUID")
        signedDate = try fields.instant("signedDate")
        environment = try fields.identifier("environment")
        consumptionRequestReason = try fields.text("consumptionRequestReason")
        fault = try fields.purchaseFault("fault")
        innerFault = try fields.purchaseFault("innerFault")
        payload = try fields.object("payload") ?? payload
        data = try fields.object("data") ?? data
        transaction = try fields.object("transaction") ?? transaction
    }
}

extension NotificationFault {
    /// Reads the body of `POST /notifications/faults`.
    fileprivate init(_ body: [UInt8]) throws(RequestError) {
        let fields = try RequestFields(
            body, known: ["effect", "type", "times", "copies", "behind", "fault"])
        self.init(
            try NotificationFault.effect(fields), type: try fields.text("type"),
            times: try fields.integer("times", 1...NotificationFault.timesMax) ?? 1)
    }

    private static func effect(_ fields: RequestFields) throws(RequestError) -> Effect {
        let name = try fields.text("effect")
        let copies = try fields.integer("copies", 1...NotificationFault.copiesMax)
        let behind = try fields.integer("behind", 1...NotificationFault.behindMax)
        let fault = try fields.purchaseFault("fault")
        guard copies == nil || name == "duplicate", behind == nil || name == "reorder",
            fault == nil || name == "outer" || name == "inner"
        else { throw .invalid("A field belongs to another effect.") }
        switch name {
        case "lose": return .lose
        case "lose_answer": return .loseAnswer
        case "duplicate": return .duplicate(copies: Int(copies ?? 1))
        case "reorder": return .reorder(behind: Int(behind ?? 1))
        case "outer": return .outer(fault ?? .chain(.foreignRoot))
        case "inner": return .inner(fault ?? .chain(.foreignRoot))
        default:
            throw .invalid(
                "effect must be lose, lose_answer, duplicate, reorder, outer or inner.")
        }
    }
}
