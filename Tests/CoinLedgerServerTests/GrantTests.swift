import Base
import CoinLedgerService
import LedgerTestSupport
import TestSupport
import Testing

@Suite struct `A grant` {
    @Test func `makes a lot of free coins and tells what it is`() async throws {
        try await TestApp.run { app in
            let answer = await app.post(
                "grants", ["coins": 50, "reason": "welcome", "campaignId": "c1"], scope: .grants)
            #expect(answer.status == 201)
            let event = try #require(answer.json["eventId"])
            // Noon of 30 November is 21:00 in Tokyo; 180 days later is 29 May.
            let balance: JSON = [
                "version": 1, "paid": 0, "free": 50, "total": 50, "available": 50, "held": 0,
                "debt": 0, "nextExpiry": "2027-05-29T15:00:00.000Z",
            ]
            #expect(
                answer.json == [
                    "accountId": "u1", "eventId": event, "coins": ["paid": 0, "free": 50],
                    "lot": [
                        "number": 1, "kind": "free", "coins": 50,
                        "expiresAt": "2027-05-29T15:00:00.000Z",
                    ],
                    "debtPaid": 0, "balance": balance,
                ])
        }
    }

    @Test func `may say when its coins expire, or that they never do`() async throws {
        try await TestApp.run { app in
            let soon = await app.post(
                "grants",
                ["coins": 1, "reason": "x", "expiresAt": "2026-11-30T21:00:00.001+09:00"])
            #expect(soon.json["lot"]?["expiresAt"] == "2026-11-30T12:00:00.001Z")
            let never = await app.post(
                "grants", ["coins": 2, "reason": "x", "expiresAt": nil])
            #expect(never.json["lot"]?["expiresAt"] == .null)
            app.setTime("2026-11-30T12:00:00.001Z")
            #expect(await app.total() == 2)
            #expect(await app.balance()["nextExpiry"] == .null)
            for late in ["2026-11-30T12:00:00.001Z", "2020-01-01T00:00:00Z"] {
                let refused = await app.post(
                    "grants", ["coins": 1, "reason": "x", "expiresAt": .string(late)])
                #expect(refused.status == 400)
                #expect(refused.code == "invalid_body")
                #expect(refused.json["detail"] == "expiresAt")
            }
        }
    }

    @Test func `into the sandbox stays there`() async throws {
        try await TestApp.run { app in
            let answer = await app.post(
                "grants", ["coins": 5, "reason": "x", "environment": "Sandbox"])
            #expect(answer.json["balance"]?["total"] == 0)
            #expect(answer.json["balance"]?["sandbox"]?["total"] == 5)
            #expect(await app.balance()["sandbox"]?["free"] == 5)
        }
    }

    @Test func `beyond what an account can hold is refused`() async throws {
        try await TestApp.run { app in
            #expect(await app.give(9_007_199_254_740_991).status == 201)
            let answer = await app.give(1)
            #expect(answer.status == 422)
            #expect(answer.code == "balance_too_large")
        }
    }

    static let wrong: [(body: JSON, detail: JSON?)] = [
        (["reason": "x"], "coins"), (["coins": 0, "reason": "x"], "coins"),
        (["coins": -1, "reason": "x"], "coins"), (["coins": "1", "reason": "x"], "coins"),
        (["coins": 9_007_199_254_740_992, "reason": "x"], "coins"), (["coins": 1], "reason"),
        (["coins": 1, "reason": ""], "reason"), (["coins": 1, "reason": 1], "reason"),
        (["coins": 1, "reason": .string(String(repeating: "ä", count: 251))], "reason"),
        (["coins": 1, "reason": "a\u{0}b"], "reason"),
        (["coins": 1, "reason": "x", "campaignId": "a b"], "campaignId"),
        (["coins": 1, "reason": "x", "campaignId": ""], "campaignId"),
        (["coins": 1, "reason": "x", "expiresAt": "2027-01-01"], "expiresAt"),
        (["coins": 1, "reason": "x", "expiresAt": 1], "expiresAt"),
        (["coins": 1, "reason": "x", "environment": "production"], "environment"),
        (["coins": 1, "reason": "x", "kind": "paid"], "kind"), ([1], nil), (nil, nil),
    ]

    @Test(arguments: wrong)
    func `with a wrong or missing field is refused and the field named`(
        body: JSON, detail: JSON?
    ) async throws {
        try await TestApp.run { app in
            let answer = await app.post("grants", body, key: "k")
            #expect(answer.status == 400)
            #expect(answer.code == "invalid_body")
            #expect(answer.json["detail"] == detail)
            // Nothing was kept: the key is free.
            #expect(await app.post("grants", ["coins": 1, "reason": "x"], key: "k").status == 201)
        }
    }
}
