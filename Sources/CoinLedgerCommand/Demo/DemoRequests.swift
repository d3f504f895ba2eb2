import AppStoreConnection
import Base

/// An answer of either server.
struct DemoAnswer: Sendable {
    let status: Int
    let json: JSON

    /// That the answer speaks of this one transaction and no other.
    func expectOnly(_ transaction: String) throws(DemoError) {
        let named = json["transactions"]?.array?.compactMap { $0["transactionId"]?.string }
        guard named == [transaction] else {
            throw DemoError("the receipt should hold \(transaction), but holds \(named ?? [])")
        }
    }
}

/// Sends JSON and reads JSON.
struct DemoRequests: Sendable {
    private let http: HTTPClient

    private static let timeoutMilliseconds: Int64 = 15_000

    init(_ http: HTTPClient) { self.http = http }

    func send(
        _ method: String, _ url: String, key: String? = nil, idempotencyKey: String? = nil,
        _ body: JSON? = nil
    ) async throws -> DemoAnswer {
        var headers = [(name: "Content-Type", value: "application/json")]
        if let idempotencyKey { headers.append(("Idempotency-Key", idempotencyKey)) }
        if let key { headers.append(("Authorization", "Bearer \(key)")) }
        let response = try await http.send(
            HTTPClientRequest(
                method: method, url: url, headers: headers, body: body?.bytes ?? [],
                timeoutMilliseconds: DemoRequests.timeoutMilliseconds))
        let json = response.body.isEmpty ? JSON.null : try JSON.parse(response.body)
        return DemoAnswer(status: response.status, json: json)
    }
}

/// The stand-in App Store, from a customer's side.
struct DemoStore: Sendable {
    let page: DevPage
    let requests: DemoRequests

    struct Sale: Sendable {
        let transaction: String
        let signedTransaction: String
        let receipt: String
    }

    func buy(
        _ product: String, transaction: String? = nil, device: String? = nil
    ) async throws -> Sale {
        var object = JSONObject([.init("productId", .string(product))])
        object.append("transactionId", transaction.map(JSON.string))
        object.append("device", device.map(JSON.string))
        let answer = try await requests.send(
            "POST", "\(page.storeURL)/purchases", .object(object))
        guard let id = answer.json["transactionId"]?.string,
            let signed = answer.json["signedTransaction"]?.string,
            let receipt = answer.json["receipt"]?.string
        else { throw DemoError("the store answered \(answer.status)") }
        Output.print("  The store takes the money: transaction \(id).\n")
        return Sale(transaction: id, signedTransaction: signed, receipt: receipt)
    }

    func finish(_ sale: Sale) async throws {
        let answer = try await requests.send(
            "POST", "\(page.storeURL)/transactions/\(sale.transaction)/finish")
        guard (200..<300).contains(answer.status) else {
            throw DemoError("the store answered \(answer.status)")
        }
        Output.print("  The app finishes the transaction.\n")
    }
}
