import Base
import CoinLedgerService
import LedgerTestSupport
import TestSupport
import Testing

private let heart: JSON = ["stampId": "heart", "quantity": 1, "programmeId": "morning"]

@Suite struct `A hold` {
    private func hold(_ app: TestApp, _ body: JSON = heart) async throws -> String {
        let answer = await app.post("holds", body)
        #expect(answer.status == 201)
        return try #require(answer.json["holdId"]?.string)
    }

    @Test func `sets coins aside until its time is over`() async throws {
        try await TestApp.run { app in
            try await app.buy("T1", paid: 50)
            let answer = await app.post("holds", heart, scope: .spends)
            #expect(answer.status == 201)
            let id = try #require(answer.json["holdId"])
            #expect(
                answer.json == [
                    "accountId": "u1", "holdId": id, "coins": 30,
                    "expiresAt": "2026-11-30T12:15:00.000Z",
                    "stamp": [
                        "stampId": "heart", "quantity": 1, "unitCoins": 30,
                        "catalogueVersion": "stamps-1",
                    ],
                    "programmeId": "morning", "performerId": nil, "policyVersion": "policy-1",
                    "balance": [
                        "version": 3, "paid": 50, "free": 0, "total": 50, "available": 20,
                        "held": 30, "debt": 0, "nextExpiry": nil,
                    ],
                ])
            #expect(await app.post("spends", heart).code == "insufficient_coins")
            app.setTime("2026-11-30T12:15:00Z")
            #expect(await app.balance()["available"] == 50)
            for path in ["capture", "release"] {
                let late = await app.post("holds/\(id.string ?? "")/\(path)", [:])
                #expect((late.status, late.code) == (409, "hold_expired"))
            }
            #expect(await app.post("spends", heart).status == 201)
        }
    }

    @Test func `is captured as a spend`() async throws {
        try await TestApp.run { app in
            try await app.buy("T1", paid: 50)
            let id = try await hold(app)
            let answer = await app.post("holds/\(id)/capture", [:], scope: .spends)
            #expect(answer.status == 201)
            #expect(answer.json["holdId"] == .string(id))
            #expect(answer.json["coins"] == ["paid": 30, "free": 0, "total": 30])
            #expect(answer.json["stamp"]?["stampId"] == "heart")
            #expect(answer.json["balance"]?["available"] == 20)
            let again = await app.post("holds/\(id)/capture", [:])
            #expect((again.status, again.code) == (404, "hold_not_found"))
        }
    }

    @Test func `is captured in part, and the rest is free again`() async throws {
        try await TestApp.run { app in
            try await app.buy("T1", paid: 50)
            let id = try await hold(app)
            let over = await app.post("holds/\(id)/capture", ["coins": 31])
            #expect((over.status, over.code) == (422, "capture_too_large"))
            #expect(over.json["held"] == 30)
            let answer = await app.post("holds/\(id)/capture", ["coins": 12])
            #expect(answer.json["coins"]?["total"] == 12)
            #expect(answer.json["balance"]?["available"] == 38)
            #expect(answer.json["balance"]?["held"] == 0)
        }
    }

    @Test func `is released`() async throws {
        try await TestApp.run { app in
            try await app.buy("T1", paid: 50)
            let id = try await hold(app)
            let answer = await app.post("holds/\(id)/release", [:], scope: .spends)
            #expect(answer.status == 200)
            #expect(answer.json["holdId"] == .string(id))
            #expect(answer.json["balance"]?["available"] == 50)
            for path in ["holds/\(id)/release", "holds/0-999/capture", "holds/x/release"] {
                let answer = await app.post(path, [:])
                #expect((answer.status, answer.code) == (404, "hold_not_found"), "\(path)")
            }
        }
    }

    @Test func `lasts as long as it's asked to, up to what the policy allows`() async throws {
        try await TestApp.run { app in
            _ = await app.give(10)
            func hold(_ seconds: JSON) async -> HTTPAnswer {
                await app.post("holds", ["coins": 1, "purpose": "x", "holdSeconds": seconds])
            }
            #expect(await hold(1).json["expiresAt"] == "2026-11-30T12:00:01.000Z")
            #expect(await hold(86_400).json["expiresAt"] == "2026-12-01T12:00:00.000Z")
            for seconds: JSON in [86_401, 0, -1, "1", 9_223_372_036_854_775_807] {
                let answer = await hold(seconds)
                #expect((answer.status, answer.code) == (400, "invalid_body"))
                #expect(answer.json["detail"] == "holdSeconds")
            }
        }
    }

    @Test func `is one of a hundred at most`() async throws {
        try await TestApp.run { app in
            _ = await app.give(200)
            let one: JSON = ["coins": 1, "purpose": "x"]
            for _ in 0..<100 { #expect(await app.post("holds", one).status == 201) }
            let answer = await app.post("holds", one)
            #expect((answer.status, answer.code) == (409, "too_many_holds"))
        }
    }
}
