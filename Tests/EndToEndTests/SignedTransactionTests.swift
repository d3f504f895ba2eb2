import AppStoreStandIn
import Base
import TestSupport
import Testing

/// Signed transactions that are unusual and right.
@Suite(.timeLimit(.minutes(15))) struct `A signed transaction` {
    private static let dayMilliseconds: Int64 = 86_400_000

    @Test func `that is posted 200 days late is granted`() async throws {
        try await World.run { world throws in
            let instant = Shop.now() - 200 * Self.dayMilliseconds
            let sale = try world.shop.sell(payload: [
                "purchaseDate": .integer(instant), "signedDate": .integer(instant),
            ])
            #expect(try world.post(sale).status == 201)
            #expect(try world.post(sale).status == 409)
        }
    }

    @Test func `of an old price keeps the worth of its day`() async throws {
        try await World.run { world throws in
            // 2019-06-01T00:00:00Z and 2020-06-01T00:00:00Z.
            let sale = try world.shop.sell(
                "coins90_old", payload: ["purchaseDate": 1_559_347_200_000])
            #expect(
                try world.post(sale).json["transactions"]?.array?.first?["coins"]
                    == ["paid": 90, "free": 0])
            let late = try world.shop.sell(
                "coins90_old", payload: ["purchaseDate": 1_590_969_600_000])
            #expect(try world.post(late).code == "unknown_product")
        }
    }

    @Test func `of a redeemed code is granted, and its price of 0 is kept`() async throws {
        try await World.run { world throws in
            let sale = try world.shop.sell(payload: ["offerType": 3, "price": 0, "currency": "JPY"])
            #expect(try world.post(sale).status == 201)
            #expect(try world.statedPrices() == [["0", "JPY"]])
        }
    }

    @Test func `keeps its price as stated, whatever the quantity`() async throws {
        try await World.run { world throws in
            let sale = try world.shop.sell {
                ($0.quantity, $0.price, $0.currency) = (3, 2_970, "USD")
            }
            #expect(try world.post(sale).status == 201)
            #expect(try world.statedPrices() == [["2970", "USD"]])
            #expect(try world.total() == 300)
        }
    }

    @Test func `that failed and was bought anew counts twice, as two purchases`() async throws {
        try await World.run { world throws in
            let first = try world.shop.sell()
            let second = try world.shop.sell()
            #expect(try world.post(second).status == 201)
            #expect(try world.post(first).status == 201)
            #expect(try world.total() == 200)
        }
    }

    @Test func `the store has taken back is not granted and may be finished`() async throws {
        try await World.run { world throws in
            let sale = try world.shop.sell(payload: [
                "revocationDate": .integer(Shop.now()), "revocationReason": 0,
            ])
            let answer = try world.post(sale)
            #expect(answer.status == 409)
            #expect(answer.code == "refunded")
            #expect(answer.finish == [sale.transactionID: true])
            #expect(try world.total() == 0)
        }
    }

    @Test func `and the app receipt of the same purchase are one purchase`() async throws {
        try await World.run { world throws in
            let sale = try world.shop.sell()
            #expect(try world.post(sale.signedTransaction).status == 201)
            #expect(try world.post(sale.receipt).status == 409)
            #expect(try world.total() == 100)
        }
    }

    @Test func `of sandbox and production with one id are two purchases`() async throws {
        try await World.run { world throws in
            let id = "1000000551439498"
            let real = try world.shop.sell { $0.transactionID = id }
            let play = try world.shop.sell {
                ($0.transactionID, $0.environment) = (id, "Sandbox")
            }
            #expect(try world.post(play).status == 201)
            #expect(try world.post(real).status == 201)
            let balance = try world.get("/v1/accounts/u1/balance").json
            #expect(balance["total"] == 100)
            #expect(balance["sandbox"]?["total"] == 100)
        }
    }
}

extension World {
    fileprivate func statedPrices() throws -> [[String]] {
        try ledger.rows(
            """
            SELECT payload->>'priceMilliunits', payload->>'currency'
            FROM coinledger.events_as_json WHERE type = 'PurchaseRecorded'
            """)
    }
}
