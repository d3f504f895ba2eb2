import Base
import LedgerTestSupport
import TestSupport
import Testing

@Suite struct `A command sent again` {
    private static let gift: JSON = ["coins": 5, "reason": "welcome"]

    @Test func `with its key is answered the same and done once`() async throws {
        try await TestApp.run { app in
            let first = await app.post("grants", Self.gift, key: "k")
            #expect(!first.isReplayed)
            for text in [
                #"{"coins":5,"reason":"welcome"}"#,
                "{ \"reason\" : \"w\\u0065lcome\",\n\t\"coins\":5 }",
            ] {
                let again = await app.ask(
                    "POST", "/v1/accounts/u%31/grants", bytes: Array(text.utf8), keys: ["k"])
                #expect(again.isReplayed)
                #expect(again.status == 201)
                #expect(again.text == first.text)
            }
            #expect(await app.total() == 5)
        }
    }

    @Test func `with its key and other content is refused`() async throws {
        try await TestApp.run { app in
            #expect(await app.post("grants", Self.gift, key: "k").status == 201)
            let others: [(path: String, body: JSON)] = [
                ("grants", ["coins": 6, "reason": "welcome"]),
                ("grants", ["coins": 5, "reason": "welcome!"]),
                ("grants", ["coins": 5, "reason": "welcome", "campaignId": "c"]),
                ("grants", ["coins": 5, "reason": "welcome", "expiresAt": nil]),
                ("spends", ["coins": 5, "purpose": "welcome"]),
            ]
            for (path, body) in others {
                let answer = await app.post(path, body, key: "k")
                #expect((answer.status, answer.code) == (422, "idempotency_key_reused"))
            }
            #expect(await app.total() == 5)
        }
    }

    @Test func `about another spend or hold is another command`() async throws {
        try await TestApp.run { app in
            _ = await app.give(50)
            var ids: [String] = []
            for _ in 0..<2 {
                let hold = await app.post("holds", ["coins": 5, "purpose": "x"])
                ids.append(try #require(hold.json["holdId"]?.string))
            }
            #expect(await app.post("holds/\(ids[0])/release", [:], key: "k").status == 200)
            let other = await app.post("holds/\(ids[1])/release", [:], key: "k")
            #expect(other.code == "idempotency_key_reused")
            let kind = await app.post("holds/\(ids[0])/capture", [:], key: "k")
            #expect(kind.code == "idempotency_key_reused")
        }
    }

    @Test func `of another account has keys of its own`() async throws {
        try await TestApp.run { app in
            for account in ["u1", "u2"] {
                let answer = await app.ask(
                    "POST", "/v1/accounts/\(account)/grants", Self.gift, key: "k")
                #expect(answer.status == 201)
                #expect(!answer.isReplayed)
            }
        }
    }

    @Test func `after it was refused is refused the same, whatever has changed`() async throws {
        try await TestApp.run { app in
            let spend: JSON = ["coins": 5, "purpose": "x"]
            let refused = await app.post("spends", spend, key: "poor")
            #expect(refused.code == "insufficient_coins")
            let heart: JSON = [
                "stampId": "heart", "quantity": 1, "programmeId": "p", "expectedCoins": 40,
            ]
            let dear = await app.post("spends", heart, key: "dear")
            #expect(dear.code == "price_changed")
            _ = await app.give(100)
            app.setTime("2026-12-31T00:00:00Z")
            for (body, key, first) in [(spend, "poor", refused), (heart, "dear", dear)] {
                let again = await app.post("spends", body, key: key)
                #expect(again.isReplayed)
                #expect(again.status == 409)
                #expect(again["Content-Type"] == "application/problem+json")
                #expect(again.text == first.text)
            }
        }
    }

    @Test func `after it was done is told so, though it couldn't be done any more`() async throws {
        try await TestApp.run { app in
            _ = await app.give(100)
            let heart: JSON = [
                "stampId": "heart", "quantity": 1, "programmeId": "p", "expectedCoins": 30,
            ]
            let gift: JSON = [
                "coins": 1, "reason": "x", "expiresAt": "2026-12-01T00:00:00Z",
            ]
            let done = [
                ("spends", heart, await app.post("spends", heart, key: "a")),
                ("grants", gift, await app.post("grants", gift, key: "b")),
            ]
            app.setTime("2026-12-31T00:00:00Z")
            for (path, body, first) in done {
                let again = await app.post(path, body, key: path == "spends" ? "a" : "b")
                #expect(again.isReplayed)
                #expect(again.text == first.text)
            }
        }
    }

    @Test func `needs a key, and one that can be one`() async throws {
        try await TestApp.run { app in
            func code(_ keys: [String]) async -> String? {
                await app.ask(
                    "POST", "/v1/accounts/u1/grants", bytes: Self.gift.bytes, keys: keys
                ).code
            }
            #expect(await code([]) == "idempotency_key_required")
            for keys in [[""], ["ä"], ["a\tb"], [String(repeating: "k", count: 256)], ["a", "a"]] {
                #expect(await code(keys) == "invalid_idempotency_key", "\(keys)")
            }
            #expect(await code([String(repeating: "k", count: 255)]) == nil)
            #expect(await app.total() == 5)
        }
    }

    @Test func `as a trial tells what would happen and leaves no trace`() async throws {
        try await TestApp.run { app in
            _ = await app.give(50)
            let before = await app.balance()
            let spend: JSON = ["coins": 20, "purpose": "x"]
            let trial = await app.post("spends?dryRun=true", spend, key: "k")
            #expect(trial.status == 201)
            #expect(trial.json["balance"]?["total"] == 30)
            #expect(await app.balance() == before)
            let poor = await app.post(
                "spends?dryRun=true", ["coins": 51, "purpose": "x"], key: "k")
            #expect(poor.code == "insufficient_coins")
            let done = await app.post("spends?dryRun=false", spend, key: "k")
            #expect(!done.isReplayed)
            #expect(done.text == trial.text)
            // A trial is of a new command, whatever its key was used for.
            let later = await app.post("spends?dryRun=true", spend, key: "k")
            #expect(!later.isReplayed)
            #expect(later.json["balance"]?["total"] == 10)
            #expect(await app.total() == 30)
            let wrong = await app.post("spends?dryRun=yes", spend)
            #expect((wrong.status, wrong.code) == (400, "invalid_parameter"))
            #expect(wrong.json["detail"] == "dryRun")
        }
    }
}
