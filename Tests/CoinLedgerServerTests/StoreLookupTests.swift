import AppStore
import AppStoreConnection
import Base
import CoinLedger
import CoinLedgerService
import InMemoryEventStore
import LedgerTestSupport
import TestSupport
import Testing

@Suite struct `What the support desk asks the store for` {
    struct Expectation: Sendable {
        let error: AppStoreServerError
        let status: Int
        /// Nil where it's that nothing was found.
        let code: String?
    }

    static let expectations = [
        Expectation(error: .notFound(code: 4_040_010), status: 404, code: nil),
        Expectation(
            error: .refused(status: 400, code: 4_000_006, message: "secret"), status: 422,
            code: "store_refused"),
        Expectation(error: .unauthorized, status: 503, code: "store_unauthorized"),
        Expectation(error: .rateLimited(until: nil), status: 503, code: "store_unavailable"),
        Expectation(error: .unavailable(.outOfTime), status: 503, code: "store_unavailable"),
        Expectation(error: .wrongShape(field: "status"), status: 503, code: "store_unavailable"),
        Expectation(error: .overloaded, status: 503, code: "overloaded"),
    ]

    @Test(arguments: expectations)
    func `fails in ways that callers are told`(expectation: Expectation) async throws {
        let lookup = StoreLookup(
            transaction: { (_) throws(AppStoreServerError) in throw expectation.error },
            order: { (_) throws(AppStoreServerError) in throw expectation.error })
        try await TestApp.run(lookup: lookup) { app in
            let redelivered = await app.redeliver("T1", to: "u1")
            #expect(redelivered.status == expectation.status)
            #expect(redelivered.code == expectation.code ?? "transaction_not_found")
            for path in ["/v1/orders/M1", "/v1/support/purchases?orderId=M1"] {
                let order = await app.ask("GET", path)
                #expect(order.status == expectation.status)
                #expect(order.code == expectation.code ?? "order_not_found")
                #expect(!order.text.contains("secret"))
            }
            let heads = try await app.store.heads()
            #expect(heads.values.allSatisfy { $0 == 0 })
        }
    }

    @Test func `isn't believed unless it's signed`() async throws {
        let lookup = StoreLookup(
            transaction: { (_) throws(AppStoreServerError) in ("e30.e30.e30", .production) },
            order: { (_) throws(AppStoreServerError) in
                OrderLookup(isValid: true, signedTransactions: ["e30.e30.e30"])
            })
        try await TestApp.run(lookup: lookup) { app in
            #expect(await app.redeliver("T1", to: "u1").code == "store_unavailable")
            #expect(await app.ask("GET", "/v1/orders/M1").code == "store_unavailable")
            let kept = try await app.store.order("M1")
            #expect(kept == nil)
        }
    }

    @Test func `needn't be asked for what was granted`() async throws {
        try await TestApp.run { app in
            try await app.buy("T1")
            for account in [nil, "u1"] as [String?] {
                let answer = await app.redeliver("T1", to: account)
                #expect(answer.status == 409)
                #expect(answer.code == "already_granted")
                #expect(answer.json["accountId"] == "u1")
                #expect(answer.json["transactions"]?.array?.first?["outcome"] == "already_granted")
            }
            let other = await app.redeliver("T1", to: "u2")
            #expect(other.code == "granted_to_other_account")
            #expect(!other.text.contains("u1"))
        }
    }

    @Test func `is kept of orders, even of one that holds nothing`() async throws {
        let asked = Lock(0)
        let lookup = StoreLookup(
            transaction: { (_) throws(AppStoreServerError) in throw .overloaded },
            order: { (id) throws(AppStoreServerError) in
                asked.withLock { $0 += 1 }
                return OrderLookup(isValid: id == "M1", signedTransactions: [])
            })
        try await TestApp.run(lookup: lookup) { app in
            for _ in 0..<2 {
                let order = await app.ask("GET", "/v1/orders/M1")
                #expect(order.status == 200)
                #expect(order.json["purchases"] == [])
                #expect(order.json["lookedUpAt"] == "2026-11-30T12:00:00.000Z")
                let event = order.json["eventId"]?.string ?? ""
                let kept = await app.ask("GET", "/v1/events/\(event)")
                #expect(kept.json["type"] == "OrderRecorded")
                #expect(kept.json["data"]?["orderId"] == "M1")
                #expect(kept.json["accountId"] == nil)
                let search = await app.ask("GET", "/v1/support/purchases?orderId=M1")
                #expect(search.json["purchases"] == [])
            }
            #expect(asked.withLock { $0 } == 1)
            // What isn't an order may be one tomorrow.
            for _ in 0..<2 {
                #expect(await app.ask("GET", "/v1/orders/M2").code == "order_not_found")
            }
            #expect(asked.withLock { $0 } == 3)
            #expect(await app.ask("GET", "/v1/orders/a%20b").code == "order_not_found")
            #expect(asked.withLock { $0 } == 3)
        }
    }

    @Test(arguments: [
        ("{}", "reason"), (#"{"reason":"x"}"#, "ticketId"),
        (#"{"reason":"","ticketId":"S-1"}"#, "reason"),
        (#"{"reason":"x","ticketId":"S 1"}"#, "ticketId"),
        (#"{"reason":"x","ticketId":"S-1","account":"u1"}"#, "account"),
    ])
    func `needs a reason and a ticket`(body: String, field: String) async throws {
        try await TestApp.run { app in
            let answer = await app.ask(
                "POST", "/v1/transactions/T1/redelivery", bytes: Array(body.utf8), keys: [])
            #expect(answer.status == 400)
            #expect(answer.code == "invalid_body")
            #expect(answer.json["detail"]?.string == field)
        }
    }

    @Test func `isn't asked for what can't be a transaction or an account`() async throws {
        try await TestApp.run { app in
            #expect(await app.redeliver("a%20b", to: nil).code == "transaction_not_found")
            #expect(await app.redeliver("T1", to: "ä").code == "invalid_account_id")
        }
    }
}

extension TestApp {
    func redeliver(_ id: String, to account: String?) async -> HTTPAnswer {
        var body = JSONObject([
            .init("reason", "finished too early"), .init("ticketId", "S-7"),
        ])
        body.append("accountId", account.map(JSON.string))
        return await ask("POST", "/v1/transactions/\(id)/redelivery", .object(body))
    }
}
