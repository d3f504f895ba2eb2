import AppStoreStandIn
import Base
import TestSupport
import Testing

/// The rows of the flow's table that tell of refunds.
@Suite(.timeLimit(.minutes(15))) struct `The refund flow` {
    @Test func `row 33: a refund takes the unspent coins of its purchase`() async throws {
        try await World.run { world throws in
            let sale = try world.shop.sell("com.nonchalant.consumable1")
            _ = try world.post(sale)
            let answer = try world.refund(sale.transactionID, signedAt: 1000)
            #expect(answer.json["outcome"] == "refunded")
            #expect(answer.json["accountId"] == "u1")
            #expect(answer.json["taken"] == ["paid": 100, "free": 10])
            #expect(try world.total() == 0)
        }
    }

    @Test func `row 34: what was spent is owed, and a new purchase pays it`() async throws {
        try await World.run { world throws in
            let sale = try world.shop.sell()
            _ = try world.post(sale)
            #expect(try world.command("spends", ["coins": 70, "purpose": "x"]).status == 201)
            let answer = try world.refund(sale.transactionID, signedAt: 1000)
            #expect(answer.json["taken"] == ["paid": 30, "free": 0])
            #expect(answer.json["debt"] == 70)
            let spend: JSON = ["coins": 1, "purpose": "x"]
            let refused = try world.command("spends", spend)
            #expect((refused.status, refused.code) == (409, "in_debt"))
            #expect(refused.json["debt"] == 70)
            let next = try world.post(world.shop.sell())
            #expect(next.status == 201)
            #expect(next.json["balance"]?["debt"] == 0)
            #expect(try world.balance()["available"] == 30)
            #expect(try world.command("spends", spend).status == 201)
            // The debt that was paid comes back as well.
            let back = try world.refund(sale.transactionID, "reversed", signedAt: 2000)
            #expect(back.json["returned"] == ["paid": 100, "free": 0])
            #expect(try world.total() == 129)
        }
    }

    @Test func `rows 35 and 36: a part is rounded half up, and only the difference is taken`()
        async throws
    {
        try await World.run { world throws in
            let sale = try world.shop.sell()
            _ = try world.post(sale)
            func refund(_ percentage: Int64, _ signedAt: Int64) throws -> JSON {
                try world.refund(
                    sale.transactionID, "prorated", percentage: percentage, signedAt: signedAt
                ).json
            }
            #expect(try refund(33_500, 1000)["taken"] == ["paid": 34, "free": 0])
            #expect(try refund(33_500, 1000)["outcome"] == "unchanged")
            #expect(try world.total() == 66)
            #expect(try refund(50_000, 2000)["taken"] == ["paid": 16, "free": 0])
            let full = try world.refund(sale.transactionID, signedAt: 3000)
            #expect(full.json["taken"] == ["paid": 50, "free": 0])
            #expect(try world.total() == 0)
        }
    }

    @Test func `rows 37 and 38: a reversal gives back what was taken, and an older refund is late`()
        async throws
    {
        try await World.run { world throws in
            let sale = try world.shop.sell("com.nonchalant.consumable1")
            _ = try world.post(sale)
            _ = try world.refund(sale.transactionID, signedAt: 1000)
            let answer = try world.refund(sale.transactionID, "reversed", signedAt: 2000)
            #expect(answer.json["outcome"] == "reversed")
            #expect(answer.json["returned"] == ["paid": 100, "free": 10])
            let late = try world.refund(sale.transactionID, signedAt: 1500)
            #expect(late.json["outcome"] == "unchanged")
            #expect(try world.total() == 110)
        }
    }

    @Test func `rows 39 and 40: a refund before any post is remembered, and nothing is granted`()
        async throws
    {
        try await World.run { world throws in
            let sale = try world.shop.sell()
            let word = try world.refund(sale.transactionID, signedAt: 1000)
            #expect(word.json["outcome"] == "remembered")
            let answer = try world.post(sale)
            #expect((answer.status, answer.code) == (409, "refunded"))
            #expect(answer.finish == [sale.transactionID: true])
            #expect(try world.total() == 0)
            let known = try world.get("/v1/transactions/\(sale.transactionID)")
            #expect(known.json["state"] == "refund_remembered")
            // Once the store takes it back, the purchase is worth something again.
            _ = try world.refund(sale.transactionID, "reversed", signedAt: 2000)
            #expect(try world.post(sale).status == 201)
            #expect(try world.total() == 100)
            #expect(
                try world.refund(sale.transactionID, signedAt: 1500).json["outcome"] == "unchanged")
        }
    }

    @Test func `a refund and a spend at the same time leave coins or a debt, but nothing else`()
        async throws
    {
        try await World.run(services: 2) { world throws in
            let sale = try world.shop.sell()
            _ = try world.post(sale)
            let spend = world.commanding("spends", ["coins": 100, "purpose": "x"], key: "s")
            let body: JSON = [
                "transactionId": .string(sale.transactionID), "environment": "Production",
                "type": "full", "signedDate": 1000,
            ]
            let refund = HTTPQuestion(
                "POST", "/v1/refunds",
                headers: [("Authorization", "Bearer \(world.ledger.keys.everything)")],
                body: body.bytes)
            let answers = try askAtOnce([
                (port: world.services[0].port, question: spend),
                (port: world.services[1].port, question: refund),
            ])
            #expect(answers[1].status == 200)
            let balance = try world.balance()
            #expect(balance["total"] == 0)
            #expect(balance["debt"] == (answers[0].status == 201 ? 100 : 0))
            #expect([201, 409].contains(answers[0].status))
        }
    }

    @Test func `what was used of a purchase is told to the store in thousandths of a percent`()
        async throws
    {
        try await World.run { world throws in
            let sale = try world.shop.sell("coins500")
            _ = try world.post(sale)
            let spend = try world.command("spends", ["coins": 70, "purpose": "x"])
            let answer = try world.get("/v1/transactions/\(sale.transactionID)/consumption")
            #expect(answer.json["consumptionPercentage"] == 14_000)
            #expect(answer.json["granted"] == ["coins": 500])
            #expect(answer.json["remaining"] == 430)
            #expect(
                answer.json["uses"]?.array?.map { $0["eventId"] } == [spend.json["eventId"]])
        }
    }
}
