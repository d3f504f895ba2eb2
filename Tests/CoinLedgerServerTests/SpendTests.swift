import Base
import CoinLedgerService
import LedgerTestSupport
import TestSupport
import Testing

private let heart: JSON = ["stampId": "heart", "quantity": 1, "programmeId": "morning"]

@Suite struct `A spend` {
    @Test func `on stamps takes free coins first and tells what each coin was worth`()
        async throws
    {
        try await TestApp.run { app in
            try await app.buy("T1", paid: 100, free: 20)
            let answer = await app.post(
                "spends",
                [
                    "stampId": "heart", "quantity": 2, "programmeId": "morning",
                    "performerId": "singer", "expectedCoins": 60,
                ], scope: .spends)
            #expect(answer.status == 201)
            let event = try #require(answer.json["eventId"])
            #expect(
                answer.json == [
                    "accountId": "u1", "eventId": event,
                    "coins": ["paid": 40, "free": 20, "total": 60],
                    "slices": [
                        ["lot": 2, "kind": "free", "coins": 20, "value": nil],
                        [
                            "lot": 1, "kind": "paid", "coins": 40,
                            "value": ["milliunits": 396, "currency": "USD"],
                        ],
                    ],
                    "stamp": [
                        "stampId": "heart", "quantity": 2, "unitCoins": 30,
                        "catalogueVersion": "stamps-1",
                    ],
                    "programmeId": "morning", "performerId": "singer",
                    "policyVersion": "policy-1",
                    "balance": [
                        "version": 3, "paid": 60, "free": 0, "total": 60, "available": 60,
                        "held": 0, "debt": 0, "nextExpiry": nil,
                    ],
                ])
        }
    }

    @Test func `of any number of coins needs a scope of its own`() async throws {
        try await TestApp.run { app in
            _ = await app.give(50)
            let raw: JSON = ["coins": 7, "purpose": "dice"]
            #expect(await app.post("spends", raw, scope: .spends).status == 403)
            #expect(await app.post("spends", heart, scope: .rawSpends).status == 403)
            #expect(await app.post("spends", raw, scope: .grants).status == 403)
            let answer = await app.post("spends", raw, scope: .rawSpends)
            #expect(answer.status == 201)
            #expect(answer.json["purpose"] == "dice")
            #expect(answer.json["stamp"] == nil)
            #expect(answer.json["programmeId"] == .null)
            #expect(answer.json["coins"] == ["paid": 0, "free": 7, "total": 7])
            #expect(await app.total() == 43)
        }
    }

    @Test func `of more than there is tells what is needed and what is there`() async throws {
        try await TestApp.run { app in
            _ = await app.give(29)
            let answer = await app.post("spends", heart)
            #expect(answer.status == 409)
            #expect(answer.code == "insufficient_coins")
            #expect(answer.json["needed"] == 30)
            #expect(answer.json["available"] == 29)
            #expect(await app.total() == 29)
        }
    }

    @Test func `at another price than the viewer was shown is refused`() async throws {
        try await TestApp.run { app in
            _ = await app.give(100)
            var body = heart.object ?? JSONObject()
            body.append("expectedCoins", 30)
            app.setTime("2026-12-31T00:00:00Z")
            let answer = await app.post("spends", .object(body))
            #expect(answer.status == 409)
            #expect(answer.code == "price_changed")
            #expect(answer.json["currentCoins"] == 40)
            #expect(answer.json["expectedCoins"] == 30)
            #expect(await app.total() == 100)
        }
    }

    @Test func `on a stamp that isn't sold, or on too many, is refused`() async throws {
        try await TestApp.run { app in
            let unknown = await app.post(
                "spends", ["stampId": "rose", "quantity": 1, "programmeId": "p"])
            #expect((unknown.status, unknown.code) == (422, "unknown_stamp"))
            let dear = await app.post(
                "spends", ["stampId": "dear", "quantity": 2, "programmeId": "p"])
            #expect((dear.status, dear.code) == (422, "quantity_out_of_range"))
        }
    }

    @Test func `from more lots than one event may name is refused`() async throws {
        try await TestApp.run { app in
            for _ in 0..<2001 { _ = await app.give(1) }
            let raw: JSON = ["coins": 2001, "purpose": "x"]
            let answer = await app.post("spends", raw)
            #expect((answer.status, answer.code) == (422, "too_many_lots"))
            #expect(await app.post("spends", ["coins": 2000, "purpose": "x"]).status == 201)
        }
    }

    static let wrong: [(body: JSON, detail: JSON)] = [
        ([:], "stampId"), (["stampId": "heart", "programmeId": "p"], "quantity"),
        (["stampId": "heart", "quantity": 1], "programmeId"),
        (["stampId": "heart", "quantity": 0, "programmeId": "p"], "quantity"),
        (["stampId": "heart", "quantity": 10_001, "programmeId": "p"], "quantity"),
        (["stampId": "heart", "quantity": 1, "programmeId": "ä"], "programmeId"),
        (
            ["stampId": "heart", "quantity": 1, "programmeId": "p", "performerId": ""],
            "performerId"
        ),
        (["stampId": "heart", "quantity": 1, "programmeId": "p", "coins": 1], "stampId"),
        (["coins": 1], "purpose"), (["purpose": "x"], "coins"),
        (["coins": 1, "purpose": .string(String(repeating: "x", count: 201))], "purpose"),
        (["coins": 1, "purpose": "x", "quantity": 1], "quantity"),
        (["coins": 1, "purpose": "x", "expectedCoins": 1], "expectedCoins"),
        (["coins": 1, "purpose": "x", "holdSeconds": 1], "holdSeconds"),
    ]

    @Test(arguments: wrong)
    func `with a wrong or missing field is refused and the field named`(
        body: JSON, detail: JSON
    ) async throws {
        try await TestApp.run { app in
            let answer = await app.post("spends", body)
            #expect((answer.status, answer.code) == (400, "invalid_body"))
            #expect(answer.json["detail"] == detail)
        }
    }
}

@Suite struct `Taking a spend back` {
    @Test func `returns the coins to their lots, once`() async throws {
        try await TestApp.run { app in
            try await app.buy("T1", paid: 100, free: 20)
            let spend = await app.post("spends", heart)
            let id = try #require(spend.json["eventId"]?.string)
            let answer = await app.post(
                "spends/\(id)/reversal", ["reason": "stream broke"], scope: .spends)
            #expect(answer.status == 201)
            let event = try #require(answer.json["eventId"])
            #expect(answer.json["spendId"] == .string(id))
            #expect(answer.json["returned"] == ["paid": 10, "free": 20])
            #expect(answer.json["lapsed"] == ["paid": 0, "free": 0])
            #expect(answer.json["slices"]?.array?.count == 2)
            #expect(answer.json["balance"]?["total"] == 120)
            let again = await app.post("spends/\(id)/reversal", ["reason": "again"])
            #expect((again.status, again.code) == (409, "already_reversed"))
            #expect(again.json["eventId"] == event)
            #expect(await app.total() == 120)
        }
    }

    @Test func `tells which coins have lapsed meanwhile`() async throws {
        try await TestApp.run { app in
            try await app.buy("T1", paid: 100)
            _ = await app.post(
                "grants",
                ["coins": 20, "reason": "x", "expiresAt": "2026-11-30T13:00:00Z"])
            let spend = await app.post("spends", heart)
            let id = try #require(spend.json["eventId"]?.string)
            app.setTime("2026-11-30T13:00:00Z")
            let answer = await app.post("spends/\(id)/reversal", ["reason": "x"])
            #expect(answer.json["returned"] == ["paid": 10, "free": 0])
            #expect(answer.json["lapsed"] == ["paid": 0, "free": 20])
            #expect(await app.total() == 100)
        }
    }

    @Test func `that isn't one of the account finds nothing`() async throws {
        try await TestApp.run { app in
            _ = await app.give(50)
            let spend = await app.post("spends", heart)
            let id = try #require(spend.json["eventId"]?.string)
            for path in [
                "u2/spends/\(id)", "u1/spends/0-999", "u1/spends/1-1", "u1/spends/0-1",
                "u1/spends/x", "u1/spends/%zz",
            ] {
                let answer = await app.ask(
                    "POST", "/v1/accounts/\(path)/reversal", ["reason": "x"], key: "k")
                #expect((answer.status, answer.code) == (404, "spend_not_found"), "\(path)")
            }
        }
    }
}
