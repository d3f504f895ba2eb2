import Base
import HTTPServer

/// The App Store Server API, as far as consumables go.
///
/// Source: developer.apple.com, App Store Server API 1.20.
struct ServerAPI: Sendable {
    let store: StandInStore
    let rates: RequestRates
    private let bearers: BearerCheck

    static let pageLength = 20

    init(store: StandInStore, monotonic: @escaping @Sendable () -> Int64) {
        self.store = store
        rates = RequestRates(monotonic: monotonic)
        bearers = BearerCheck(key: store.apiKey)
    }

    /// Answers a request to the API of `environment`, in Apple's spelling.
    func respond(
        to request: HTTPRequest, _ path: [String], in environment: String
    ) -> HTTPResponse {
        let instant = store.now()
        guard bearers.accepts(request.headers["Authorization"], now: instant / 1000) else {
            return HTTPResponse(
                status: 401, headers: [(name: "Content-Type", value: "text/plain")],
                body: Array("Unauthenticated\n".utf8))
        }
        guard let (endpoint, id) = ServerAPIEndpoint.find(request.method, path) else {
            return ServerAPIError.noSuchPath.response
        }
        let thousandSeconds: Int64 = environment == StoreName.production ? 1000 : 100
        let wait = rates.take(
            "\(environment) \(endpoint.rawValue)",
            perThousandSeconds: endpoint.requestsPerSecond * thousandSeconds)
        if let wait { return ServerAPIError.rateExceeded.response.retryable(after: instant + wait) }
        let call = ServerAPICall(request: request, id: id, environment: environment)
        do throws(ServerAPIError) {
            return try answer(endpoint, call)
        } catch {
            return error.response
        }
    }

    private func answer(
        _ endpoint: ServerAPIEndpoint, _ call: ServerAPICall
    ) throws(ServerAPIError) -> HTTPResponse {
        switch endpoint {
        case .transaction: return try transaction(call)
        case .history: return try history(call)
        case .refunds: return try refunds(call)
        case .order: return try order(call)
        case .consumption: return try takeConsumption(call)
        case .appAccountToken: return try setAppAccountToken(call)
        case .finish: return try finish(call)
        case .appTransaction: return try appTransaction(call)
        case .testNotification: return try requestTestNotification(call)
        case .testNotificationStatus: return try testNotificationStatus(call)
        case .notificationHistory: return try notificationHistory(call)
        }
    }

    /// The sale that the path names.
    func sale(_ call: ServerAPICall) throws(ServerAPIError) -> Sale {
        guard RequestFields.isIdentifier(call.id) else { throw .transactionID }
        guard let sale = store.sale(call.id, in: call.environment) else {
            throw .transactionNotFound
        }
        return sale
    }

    private func transaction(_ call: ServerAPICall) throws(ServerAPIError) -> HTTPResponse {
        _ = try call.query([])
        return .json(["signedTransactionInfo": .string(store.sign(try sale(call)))])
    }

    private func order(_ call: ServerAPICall) throws(ServerAPIError) -> HTTPResponse {
        _ = try call.query([])
        guard call.environment == StoreName.production else { throw .noSuchPath }
        let sales = store.sales(ofOrder: call.id)
        return .json([
            "status": sales.isEmpty ? 1 : 0,
            "signedTransactions": .array(sales.map { .string(store.sign($0)) }),
        ])
    }

    private func finish(_ call: ServerAPICall) throws(ServerAPIError) -> HTTPResponse {
        let sale = try sale(call)
        do throws(StandInStoreError) {
            try store.finish(sale.transactionID)
        } catch {
            throw .transactionNotFound
        }
        return .json([:])
    }

    private func setAppAccountToken(
        _ call: ServerAPICall
    ) throws(ServerAPIError) -> HTTPResponse {
        let fields = try call.body(["appAccountToken"])
        guard let token = fields["appAccountToken"]?.string, ServerAPI.isUUID(token) else {
            throw .appAccountToken
        }
        let sale = try sale(call)
        guard sale.originalTransactionID == call.id else { throw .notOriginal }
        store.setAppAccountToken(
            token.lowercased(), ofOriginal: call.id, in: call.environment)
        return HTTPResponse(status: 200)
    }

    private func appTransaction(_ call: ServerAPICall) throws(ServerAPIError) -> HTTPResponse {
        let sale = try sale(call)
        let instant = store.now()
        var payload = JSONObject([
            .init("receiptType", .string(sale.environment)),
            .init("bundleId", .string(sale.bundleID)), .init("applicationVersion", "1"),
            .init("originalApplicationVersion", "1.0"),
            .init("receiptCreationDate", .integer(instant)),
            .init("originalPurchaseDate", .integer(sale.purchaseDate)),
            .init("originalPlatform", "iOS"), .init("appTransactionId", .string(sale.device)),
        ])
        if sale.environment == StoreName.production {
            payload.append("appAppleId", .integer(store.configuration.appAppleID))
        }
        return .json([
            "signedAppTransactionInfo": .string(store.sign(.object(payload), fault: nil))
        ])
    }

    static func isUUID(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map { $0.utf8.count } == [8, 4, 4, 4, 12]
            && parts.allSatisfy { $0.utf8.allSatisfy { Hex.value($0) != nil } }
    }
}

/// One request to the Server API.
struct ServerAPICall {
    let request: HTTPRequest
    /// Of the path; empty where it has none.
    let id: String
    let environment: String

    func query(_ known: Set<String>) throws(ServerAPIError) -> QueryFields {
        do throws(QueryFields.Refusal) {
            return try QueryFields(request.query, known: known)
        } catch {
            throw .bad(error.message)
        }
    }

    /// The members of the body, which has no others than `known`.
    func body(_ known: Set<String>) throws(ServerAPIError) -> JSONObject {
        guard let object = (try? JSON.parse(request.body))?.object else {
            throw .bad("The body must be a JSON object.")
        }
        if let stranger = object.members.first(where: { !known.contains($0.name) }) {
            throw .bad("There's no field \(stranger.name).")
        }
        return object
    }
}
