import Base
import CoinLedgerService
import LedgerTestSupport
import TestSupport
import Testing

@Suite struct `A transaction` {
    @Test func `is shown as it was recorded, with its lots and its refund`() async throws {
        try await TestApp.run { app in
            try await app.buy("T1", paid: 100, free: 10)
            let answer = await app.ask("GET", "/v1/transactions/T1", scope: .read)
            #expect(answer.status == 200)
            let event = try #require(answer.json["eventId"])
            let source: JSON = [
                "type": "purchase", "store": "app_store", "environment": "Production",
                "transactionId": "T1",
            ]
            #expect(
                answer.json == [
                    "transactionId": "T1", "environment": "Production", "state": "granted",
                    "accountId": "u1", "store": "app_store", "originalTransactionId": "T1",
                    "productId": "coins100", "quantity": 1,
                    "price": ["milliunits": 990, "currency": "USD"], "storefront": "USA",
                    "purchasedAt": "2026-11-30T11:58:00.000Z",
                    "signedAt": "2026-11-30T11:58:01.000Z", "catalogueVersion": "2026-11",
                    "eventId": event, "grantedAt": "2026-11-30T12:00:00.000Z",
                    "coins": ["paid": 100, "free": 10],
                    "lots": [
                        [
                            "number": 1, "environment": "Production", "kind": "paid", "coins": 100,
                            "remaining": 100, "price": ["milliunits": 990, "currency": "USD"],
                            "expiresAt": nil, "source": source, "eventId": event,
                            "grantedAt": "2026-11-30T12:00:00.000Z",
                        ],
                        [
                            "number": 2, "environment": "Production", "kind": "free", "coins": 10,
                            "remaining": 10, "price": nil, "expiresAt": nil, "source": source,
                            "eventId": event, "grantedAt": "2026-11-30T12:00:00.000Z",
                        ],
                    ],
                    "refund": nil,
                ])
        }
    }

    @Test func `tells how many of its paid coins were used, and for what`() async throws {
        try await TestApp.run { app in
            try await app.buy("T1", paid: 120)
            try await app.buy("T2", paid: 7)
            let spend = await app.post("spends", ["coins": 80, "purpose": "x"])
            let back = await app.post("spends", ["coins": 9, "purpose": "x"])
            let id = try #require(back.json["eventId"]?.string)
            let reversal = await app.post("spends/\(id)/reversal", ["reason": "x"])
            let refund = await app.ask(
                "POST", "/v1/refunds",
                [
                    "transactionId": "T1", "environment": "Production", "type": "prorated",
                    "percentage": 10_000, "signedDate": 1,
                ])
            #expect(refund.json["taken"] == ["paid": 12, "free": 0])
            let answer = await app.ask("GET", "/v1/transactions/T1/consumption", scope: .read)
            let uses: [(HTTPAnswer, String, JSON)] = [
                (spend, "CoinsSpent", 80), (back, "CoinsSpent", 9),
                (reversal, "SpendReversed", -9),
            ]
            #expect(
                answer.json == [
                    "transactionId": "T1", "environment": "Production", "accountId": "u1",
                    "productId": "coins100", "granted": ["coins": 120], "used": 80,
                    "remaining": 28, "refunded": 12, "consumptionPercentage": 66_667,
                    "uses": .array(
                        uses.map { answer, type, coins in
                            [
                                "eventId": answer.json["eventId"] ?? .null,
                                "type": .string(type), "recordedAt": "2026-11-30T12:00:00.000Z",
                                "coins": coins,
                            ]
                        }), "usesTruncated": false,
                ])
        }
    }

    @Test func `of which 70 of 120 coins are used is consumed to 58333 thousandths of a percent`()
        async throws
    {
        try await TestApp.run { app in
            try await app.buy("T1", paid: 120)
            _ = await app.post("spends", ["coins": 70, "purpose": "x"])
            let answer = await app.ask("GET", "/v1/transactions/T1/consumption")
            #expect(answer.json["consumptionPercentage"] == 58_333)
        }
    }

    @Test func `with more uses than fit tells so`() async throws {
        try await TestApp.run { app in
            try await app.buy("T1", paid: 1001)
            for _ in 0..<1000 { _ = await app.post("spends", ["coins": 1, "purpose": "x"]) }
            func consumption() async -> JSON {
                await app.ask("GET", "/v1/transactions/T1/consumption").json
            }
            #expect(await consumption()["usesTruncated"] == false)
            _ = await app.post("spends", ["coins": 1, "purpose": "x"])
            let answer = await consumption()
            #expect(answer["uses"]?.array?.count == 1000)
            #expect(answer["usesTruncated"] == true)
            #expect(answer["consumptionPercentage"] == 100_000)
        }
    }

    @Test func `that nobody knows, or of another environment, isn't found`() async throws {
        try await TestApp.run { app in
            try await app.buy("T1")
            for path in ["T2", "T1?environment=Sandbox", "a%20b", "%zz", "T2/consumption"] {
                let answer = await app.ask("GET", "/v1/transactions/\(path)")
                #expect((answer.status, answer.code) == (404, "transaction_not_found"), "\(path)")
            }
            let wrong = await app.ask("GET", "/v1/transactions/T1?environment=production")
            #expect((wrong.status, wrong.code) == (400, "invalid_parameter"))
            #expect(wrong.json["detail"] == "environment")
            let known = await app.ask("GET", "/v1/transactions/T1?environment=Production")
            #expect(known.status == 200)
            #expect(await app.ask("GET", "/v1/transactions/T1", scope: .store).status == 403)
        }
    }
}
