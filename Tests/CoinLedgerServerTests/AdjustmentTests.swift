import Base
import CoinLedgerService
import LedgerTestSupport
import TestSupport
import Testing

@Suite struct `An adjustment` {
    private func body(_ coins: JSON) -> JSON {
        ["coins": coins, "kind": "free", "reason": "broken stream", "ticketId": "S-17"]
    }

    @Test func `adds free coins`() async throws {
        try await TestApp.run { app in
            let answer = await app.post("adjustments", body(5), scope: .support)
            #expect(answer.status == 201)
            #expect(answer.json["coins"] == 5)
            #expect(answer.json["kind"] == "free")
            #expect(answer.json["reason"] == "broken stream")
            #expect(answer.json["ticketId"] == "S-17")
            #expect(answer.json["lot"]?["expiresAt"] == "2027-05-29T15:00:00.000Z")
            #expect(answer.json["balance"]?["free"] == 5)
        }
    }

    @Test func `takes free coins and no others`() async throws {
        try await TestApp.run { app in
            try await app.buy("T1", paid: 100, free: 20)
            let answer = await app.post("adjustments", body(-15))
            #expect(answer.status == 201)
            #expect(answer.json["coins"] == -15)
            #expect(
                answer.json["slices"] == [["lot": 2, "kind": "free", "coins": 15, "value": nil]])
            let more = await app.post("adjustments", body(-6))
            #expect((more.status, more.code) == (409, "insufficient_coins"))
            #expect(more.json["available"] == 5)
        }
    }

    @Test func `needs the scope of the support desk`() async throws {
        try await TestApp.run { app in
            #expect(await app.post("adjustments", body(1), scope: .grants).status == 403)
        }
    }

    @Test func `with a wrong or missing field is refused and the field named`() async throws {
        let wrong: [(body: JSON, detail: JSON)] = [
            (body(0), "coins"), (body(-9_007_199_254_740_992), "coins"), (body(nil), "coins"),
            (["coins": 1, "kind": "paid", "reason": "x", "ticketId": "t"], "kind"),
            (["coins": 1, "reason": "x", "ticketId": "t"], "kind"),
            (["coins": 1, "kind": "free", "ticketId": "t"], "reason"),
            (["coins": 1, "kind": "free", "reason": "x"], "ticketId"),
        ]
        try await TestApp.run { app in
            for (body, detail) in wrong {
                let answer = await app.post("adjustments", body)
                #expect((answer.status, answer.code) == (400, "invalid_body"))
                #expect(answer.json["detail"] == detail)
            }
        }
    }
}
