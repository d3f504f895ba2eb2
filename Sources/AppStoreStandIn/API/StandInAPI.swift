import Base
package import HTTPServer

/// The stand-in as a function from request to response.
package struct StandInAPI: Sendable {
    package let store: StandInStore
    /// Answers whether certificates were revoked.
    package let responder: RevocationResponder
    private let faults = FaultList()
    private let sleep: @Sendable (_ milliseconds: Int64) async -> Void

    /// - Parameter sleep: waits, for delays that are asked for.
    package init(
        store: StandInStore, sleep: @escaping @Sendable (_ milliseconds: Int64) async -> Void
    ) {
        self.store = store
        responder = RevocationResponder(store.authority)
        self.sleep = sleep
    }

    /// Answers `request`; every error has a JSON body with a code and a message.
    package func respond(to request: HTTPRequest) async -> HTTPResponse {
        let path = request.path.split(separator: "/", omittingEmptySubsequences: false)
            .dropFirst().map { String($0) }
        if let fault = faults.take(StandInAPI.endpoint(path)) {
            if fault.delayMilliseconds > 0 { await sleep(fault.delayMilliseconds) }
            if let response = fault.response { return response }
        }
        do throws(RequestError) {
            return try route(request, path)
        } catch {
            return .json(
                ["code": .string(error.code), "message": .string(error.message)],
                status: error.status)
        }
    }

    /// Has the stand-in misbehave; false if it already has too many faults to make.
    @discardableResult
    package func add(_ fault: StandInFault) -> Bool { faults.add(fault) }

    package func removeFaults() { faults.removeAll() }

    /// How many of the faults that were added are still to come, however often each.
    package var pendingFaults: Int { faults.count }

    private static func endpoint(_ path: [String]) -> String {
        path.count == 3 && path[0] == "transactions"
            ? "transactions/" + path[2] : path.joined(separator: "/")
    }

    private func route(
        _ request: HTTPRequest, _ path: [String]
    ) throws(RequestError) -> HTTPResponse {
        switch (request.method, path) {
        case ("POST", ["purchases"]):
            return try purchase(request)
        case (_, ["verifyReceipt"]):
            return verifyReceipt(request, environment: "Production")
        case (_, ["sandbox", "verifyReceipt"]):
            return verifyReceipt(request, environment: "Sandbox")
        case ("POST", ["faults"]):
            guard faults.add(try StandInFault(request.body)) else {
                throw .invalid("There are too many faults already.")
            }
            return .json([:], status: 201)
        case ("DELETE", ["faults"]):
            faults.removeAll()
            return .json([:])
        case ("POST", ["ocsp"]):
            guard let answer = responder.respond(to: request.body) else {
                throw .invalid("This isn't a question about one of the stand-in's certificates.")
            }
            return HTTPResponse(
                status: 200,
                headers: [(name: "Content-Type", value: "application/ocsp-response")],
                body: answer)
        case ("PUT", ["ocsp"]):
            let fields = try RequestFields(request.body, known: ["status"])
            guard let answer = try fields.text("status").flatMap(RevocationResponder.Answer.init)
            else { throw .invalid("status must be good, revoked or unknown.") }
            responder.set(answer)
            return .json(["status": .string(answer.rawValue)])
        case ("GET", ["root.pem"]):
            return HTTPResponse(
                status: 200,
                headers: [(name: "Content-Type", value: "application/x-pem-file")],
                body: Array(store.authority.rootsPEM.utf8))
        default:
            return try routeByIdentifier(request, path)
        }
    }

    private func routeByIdentifier(
        _ request: HTTPRequest, _ path: [String]
    ) throws(RequestError) -> HTTPResponse {
        if request.method == "POST", path.count == 3, path[0] == "transactions",
            path[2] == "finish"
        {
            do throws(StandInStoreError) {
                try store.finish(path[1])
            } catch {
                throw RequestError(error)
            }
            return .json(["transactionId": .string(path[1])])
        }
        if request.method == "GET", path.count == 2, path[0] == "receipts",
            RequestFields.isIdentifier(path[1])
        {
            return .json([
                "receipt": .string(
                    store.receipt(device: path[1], environment: try environment(request)))
            ])
        }
        throw .notFound
    }

    private func purchase(_ request: HTTPRequest) throws(RequestError) -> HTTPResponse {
        let purchase = try StandInPurchase(request.body)
        let sale: StandInSale
        do throws(StandInStoreError) {
            sale = try store.purchase(purchase)
        } catch {
            throw RequestError(error)
        }
        return .json(
            [
                "transactionId": .string(sale.transactionID),
                "signedTransaction": .string(sale.signedTransaction),
                "receipt": .string(sale.receipt),
            ], status: 201)
    }

    private func verifyReceipt(_ request: HTTPRequest, environment: String) -> HTTPResponse {
        guard request.method == "POST", let body = try? JSON.parse(request.body),
            let receipt = body["receipt-data"]?.string
        else { return .json(["status": 21000]) }
        return .json(store.verifyReceipt(receipt, environment: environment))
    }

    private func environment(_ request: HTTPRequest) throws(RequestError) -> String? {
        guard let query = request.query else { return nil }
        let parts = query.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "environment",
            RequestFields.isIdentifier(String(parts[1]))
        else { throw .invalid("The only query parameter is environment.") }
        return String(parts[1])
    }
}

extension StandInPurchase {
    /// Reads the body of `POST /purchases`.
    fileprivate init(_ body: [UInt8]) throws(RequestError) {
        let fields = try RequestFields(
            body,
            known: [
                "productId", "quantity", "appAccountToken", "environment", "transactionId",
                "originalTransactionId", "price", "currency", "storefront", "device", "fault",
                "payload",
            ])
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
        payload = try fields.object("payload") ?? payload
        if let name = try fields.text("fault") {
            guard let fault = PurchaseFault(name) else {
                throw .invalid("There's no fault \(name).")
            }
            self.fault = fault
        }
    }
}

extension RequestError {
    fileprivate init(_ error: StandInStoreError) {
        switch error {
        case .unknownTransaction:
            self.init(
                status: 404, code: "unknown_transaction",
                message: "The stand-in never sold this transaction.")
        case .full:
            self.init(
                status: 507, code: "full", message: "The stand-in has no room for more sales.")
        }
    }
}

extension HTTPResponse {
    static func json(_ value: JSON, status: Int = 200) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: [(name: "Content-Type", value: "application/json")],
            body: value.bytes)
    }
}
