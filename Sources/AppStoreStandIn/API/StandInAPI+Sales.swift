import Base
import HTTPServer

/// Purchases, and what becomes of them.
extension StandInAPI {
    /// `POST /purchases`
    func purchase(_ request: HTTPRequest) throws(RequestError) -> HTTPResponse {
        let fields = try RequestFields(request.body, known: StandInPurchase.fields)
        let purchase = try StandInPurchase(fields)
        let isDeferred = try fields.flag("deferred") ?? false
        let isInterrupted = try fields.flag("interrupted") ?? false
        guard !isDeferred || !isInterrupted else {
            throw .invalid("A purchase waits for one thing only.")
        }
        guard isDeferred || isInterrupted else {
            return .json(
                try fromStore { () throws(StandInStoreError) in
                    try store.purchase(purchase).json
                }, status: 201)
        }
        let reason = isDeferred ? PendingReason.askToBuy : .interruption
        let id = try fromStore { () throws(StandInStoreError) in
            try store.begin(purchase, reason)
        }
        return .json(
            ["transactionId": .string(id), "state": .string(reason.state.rawValue)], status: 202)
    }

    /// `GET /transactions/{id}` and `POST /transactions/{id}/{verb}`
    func transaction(
        _ request: HTTPRequest, _ id: String, _ verb: String?
    ) throws(RequestError) -> HTTPResponse {
        switch (request.method, verb) {
        case ("GET", nil):
            return .json(
                try fromStore { () throws(StandInStoreError) in
                    try store.description(of: id)
                })
        case ("POST", "finish"):
            try fromStore { () throws(StandInStoreError) in try store.finish(id) }
        case ("POST", "decline"):
            try fromStore { () throws(StandInStoreError) in try store.decline(id) }
        case ("POST", "approve"): return try approve(id, .askToBuy)
        case ("POST", "resume"): return try approve(id, .interruption)
        case ("POST", "refund"): return try refund(request, id)
        case ("POST", "refund-reversal"):
            return try told(request, id) { notify throws(StandInStoreError) in
                try store.reverseRefund(id, notify: notify)
            }
        case ("POST", "refund-decline"):
            return try told(request, id) { notify throws(StandInStoreError) in
                try store.declineRefund(id, notify: notify)
            }
        case ("POST", "consumption-request"): return try requestConsumption(request, id)
        default: throw .notFound
        }
        return .json(["transactionId": .string(id)])
    }

    private func approve(
        _ id: String, _ reason: PendingReason
    ) throws(RequestError) -> HTTPResponse {
        .json(
            try fromStore { () throws(StandInStoreError) in
                try store.approve(id, reason).json
            })
    }

    private func refund(
        _ request: HTTPRequest, _ id: String
    ) throws(RequestError) -> HTTPResponse {
        let fields = try RequestFields(
            optional: request.body, known: ["percentage", "reason", "date", "notify"])
        let whole = StandInRefund.wholePercentage
        let percentage = try fields.integer("percentage", 1...whole) ?? whole
        let reason = try fields.integer("reason", 0...1) ?? 0
        let date = try fields.instant("date")
        let notify = try fields.flag("notify") ?? true
        return try told(id) { () throws(StandInStoreError) in
            try store.refund(
                id, percentage: percentage, reason: reason, date: date, notify: notify)
        }
    }

    private func requestConsumption(
        _ request: HTTPRequest, _ id: String
    ) throws(RequestError) -> HTTPResponse {
        let fields = try RequestFields(optional: request.body, known: ["reason", "notify"])
        let reason = try fields.text("reason") ?? "UNINTENDED_PURCHASE"
        let notify = try fields.flag("notify") ?? true
        return try told(id) { () throws(StandInStoreError) in
            try store.requestConsumption(id, reason: reason, notify: notify)
        }
    }

    private func told(
        _ request: HTTPRequest, _ id: String,
        _ act: (_ notify: Bool) throws(StandInStoreError) -> String
    ) throws(RequestError) -> HTTPResponse {
        let fields = try RequestFields(optional: request.body, known: ["notify"])
        let notify = try fields.flag("notify") ?? true
        return try told(id) { () throws(StandInStoreError) in try act(notify) }
    }

    private func told(
        _ id: String, _ act: () throws(StandInStoreError) -> String
    ) throws(RequestError) -> HTTPResponse {
        let signedPayload = try fromStore(act)
        return .json([
            "transactionId": .string(id), "signedPayload": .string(signedPayload),
        ])
    }

    /// What the store does, or why it doesn't, for people.
    func fromStore<Value>(
        _ body: () throws(StandInStoreError) -> Value
    ) throws(RequestError) -> Value {
        do throws(StandInStoreError) {
            return try body()
        } catch {
            throw RequestError(error)
        }
    }
}

extension StandInSale {
    fileprivate var json: JSON {
        [
            "transactionId": .string(transactionID),
            "signedTransaction": .string(signedTransaction), "receipt": .string(receipt),
        ]
    }
}

extension StandInStore {
    /// A sale as it is now.
    fileprivate func description(of transactionID: String) throws(StandInStoreError) -> JSON {
        guard let sale = state.withLock({ $0.sales[transactionID] }) else {
            throw .unknownTransaction
        }
        var object = JSONObject([
            .init("transactionId", .string(sale.transactionID)),
            .init("originalTransactionId", .string(sale.originalTransactionID)),
            .init("state", .string(sale.state.rawValue)),
            .init("environment", .string(sale.environment)),
            .init("device", .string(sale.device)), .init("finished", .bool(sale.isFinished)),
        ])
        object.append("orderId", sale.orderID.map { .string($0) })
        if let refund = sale.refund {
            object.append(
                "refund",
                [
                    "date": .integer(refund.date), "percentage": .integer(refund.percentage),
                    "reason": .integer(refund.reason),
                ])
        }
        object.append("consumptionAnswers", .integer(Int64(sale.consumption.count)))
        object.append("consumption", sale.consumption.latest)
        if sale.state == .purchased {
            object.append("signedTransaction", .string(sign(sale, fault: sale.purchase.fault)))
        }
        return .object(object)
    }
}

extension StandInPurchase {
    fileprivate static let fields: Set<String> = [
        "productId", "quantity", "appAccountToken", "environment", "transactionId",
        "originalTransactionId", "price", "currency", "storefront", "device", "orderId",
        "offerCode", "notify", "deferred", "interrupted", "fault", "payload",
    ]

    /// Reads the body of `POST /purchases`.
    fileprivate init(_ fields: RequestFields) throws(RequestError) {
        guard let productID = try fields.text("productId") else {
            throw .invalid("productId is missing.")
        }
        self.init(productID: productID)
        quantity = try fields.integer("quantity") ?? 1
        appAccountToken = try fields.text("appAccountToken")
        environment = try fields.identifier("environment")
        transactionID = try fields.identifier("transactionId")
        originalTransactionID = try fields.identifier("originalTransactionId")
        price = try fields.integer("price")
        currency = try fields.text("currency")
        storefront = try fields.text("storefront")
        device = try fields.identifier("device") ?? device
        orderID = try fields.identifier("orderId")
        offerCode = try fields.text("offerCode")
        notify = try fields.flag("notify") ?? true
        payload = try fields.object("payload") ?? payload
        fault = try fields.purchaseFault("fault")
    }
}

extension RequestError {
    fileprivate init(_ error: StandInStoreError) {
        switch error {
        case .unknownTransaction:
            self.init(
                status: 404, code: "unknown_transaction",
                message: "The stand-in never sold this transaction.")
        case .wrongState(let state):
            self.init(
                status: 409, code: "wrong_state",
                message: "The transaction is \(state.rawValue).")
        case .notRefunded:
            self.init(
                status: 409, code: "not_refunded", message: "The transaction isn't refunded.")
        case .full:
            self.init(
                status: 507, code: "full", message: "The stand-in has no room for more.")
        }
    }
}
