import Base
import CoinLedgerService
import LedgerTestSupport
import TestSupport
import Testing

@Suite struct `The store's word on a refund` {
    private func refund(
        _ app: TestApp, _ type: JSON = "full", _ id: JSON = "T1", percentage: JSON? = nil,
        signedDate: JSON = "2026-11-30T12:00:00Z"
    ) async -> HTTPAnswer {
        var body = JSONObject([
            .init("transactionId", id), .init("environment", "Production"), .init("type", type),
            .init("signedDate", signedDate),
        ])
        body.append("percentage", percentage)
        return await app.ask("POST", "/v1/refunds", .object(body), scope: .store)
    }

    @Test func `takes the coins of the purchase, and its reversal gives them back`() async throws {
        try await TestApp.run { app in
            try await app.buy("T1", paid: 100, free: 10)
            let answer = await refund(app)
            #expect(answer.status == 200)
            let event = try #require(answer.json["eventId"])
            #expect(
                answer.json == [
                    "transactionId": "T1", "environment": "Production", "outcome": "refunded",
                    "accountId": "u1", "eventId": event, "percentage": 100_000,
                    "taken": ["paid": 100, "free": 10], "debt": 0, "writtenOff": 0,
                    "balance": [
                        "version": 3, "paid": 0, "free": 0, "total": 0, "available": 0, "held": 0,
                        "debt": 0, "nextExpiry": nil,
                    ],
                ])
            #expect(await refund(app).json["outcome"] == "unchanged")
            let back = await refund(app, "reversed", signedDate: "2026-11-30T13:00:00Z")
            #expect(back.json["outcome"] == "reversed")
            #expect(back.json["returned"] == ["paid": 100, "free": 10])
            #expect(back.json["debtCleared"] == 0)
            #expect(await app.total() == 110)
            // Signed before the reversal, whenever it arrives.
            #expect(
                await refund(app, signedDate: "2026-11-30T12:30:00Z").json["outcome"] == "unchanged"
            )
        }
    }

    @Test func `leaves a debt that new coins pay before anything is spent`() async throws {
        try await TestApp.run { app in
            try await app.buy("T1", paid: 100)
            #expect(await app.post("spends", ["coins": 70, "purpose": "x"]).status == 201)
            let answer = await refund(app)
            #expect(answer.json["taken"] == ["paid": 30, "free": 0])
            #expect(answer.json["debt"] == 70)
            #expect(answer.json["balance"]?["debt"] == 70)
            let spend = await app.post("spends", ["coins": 1, "purpose": "x"])
            #expect((spend.status, spend.code) == (409, "in_debt"))
            #expect(spend.json["debt"] == 70)
            let hold = await app.post("holds", ["coins": 1, "purpose": "x"])
            #expect(hold.code == "in_debt")
            #expect(await app.give(50).json["debtPaid"] == 50)
            #expect(await app.balance()["debt"] == 20)
            let last = await app.give(50)
            #expect(last.json["debtPaid"] == 20)
            #expect(last.json["balance"]?["available"] == 30)
            #expect(await app.post("spends", ["coins": 1, "purpose": "x"]).status == 201)
        }
    }

    @Test func `of a part counts for all that was refunded by then`() async throws {
        try await TestApp.run { app in
            try await app.buy("T1", paid: 100)
            let third = await refund(app, "prorated", percentage: 33_500, signedDate: 1)
            #expect(third.json["taken"] == ["paid": 34, "free": 0])
            #expect(third.json["percentage"] == 33_500)
            let half = await refund(app, "prorated", percentage: 50_000, signedDate: 2)
            #expect(half.json["taken"] == ["paid": 16, "free": 0])
            let less = await refund(app, "prorated", percentage: 10_000, signedDate: 3)
            #expect(less.json["outcome"] == "refunded")
            #expect(less.json["returned"] == ["paid": 50, "free": 0])
            #expect(less.json["taken"] == ["paid": 10, "free": 0])
            #expect(await app.total() == 90)
        }
    }

    @Test func `on a purchase that nobody has is remembered`() async throws {
        try await TestApp.run { app in
            let answer = await refund(app, "full", "T9")
            #expect(answer.status == 200)
            #expect(answer.json["outcome"] == "remembered")
            #expect(answer.json["accountId"] == nil)
            #expect(answer.json["balance"] == nil)
            let known = await app.ask("GET", "/v1/transactions/T9")
            #expect(known.json["state"] == "refund_remembered")
            #expect(known.json["eventId"] == answer.json["eventId"])
            #expect(known.json["refund"]?["percentage"] == 100_000)
            let id = try #require(answer.json["eventId"]?.string)
            let event = await app.ask("GET", "/v1/events/\(id)")
            #expect(event.json["type"] == "RefundRemembered")
            #expect(event.json["accountId"] == nil)
            let consumption = await app.ask("GET", "/v1/transactions/T9/consumption")
            #expect((consumption.status, consumption.code) == (404, "transaction_not_found"))
        }
    }

    @Test func `that would give back more than the account can hold is refused`() async throws {
        try await TestApp.run { app in
            try await app.buy("T1", paid: 100)
            _ = await refund(app)
            _ = await app.give(9_007_199_254_740_991)
            let answer = await refund(app, "reversed", signedDate: "2026-11-30T13:00:00Z")
            #expect((answer.status, answer.code) == (422, "balance_too_large"))
        }
    }

    @Test func `needs the scope of the store, and nothing wrong in it`() async throws {
        try await TestApp.run { app in
            #expect(await app.ask("POST", "/v1/refunds", [:], scope: .support).status == 403)
            let wrong: [(answer: HTTPAnswer, detail: JSON)] = [
                (await refund(app, "half"), "type"),
                (await refund(app, "full", 5), "transactionId"),
                (await refund(app, "full", "a/b"), "transactionId"),
                (await refund(app, "prorated"), "percentage"),
                (await refund(app, "prorated", percentage: 0), "percentage"),
                (await refund(app, "prorated", percentage: 100_001), "percentage"),
                (await refund(app, "full", percentage: 100_000), "percentage"),
                (await refund(app, "reversed", percentage: 1), "percentage"),
                (await refund(app, signedDate: "2026-11-30"), "signedDate"),
                (await refund(app, signedDate: 9_007_199_254_740_991), "signedDate"),
                (await refund(app, signedDate: nil), "signedDate"),
            ]
            for (answer, detail) in wrong {
                #expect((answer.status, answer.code) == (400, "invalid_body"))
                #expect(answer.json["detail"] == detail)
            }
        }
    }
}
