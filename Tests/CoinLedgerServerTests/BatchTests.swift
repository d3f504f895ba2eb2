import Base
import CoinLedger
import CoinLedgerService
import LedgerTestSupport
import TestSupport
import Testing

@Suite struct `A batch` {
    private func post(
        _ app: TestApp, _ lines: [JSON], query: String = "", scope: APIScope? = nil
    ) async -> [JSON] {
        await post(
            app, text: lines.map { String(decoding: $0.bytes, as: UTF8.self) + "\n" }.joined(),
            query: query, scope: scope)
    }

    private func post(
        _ app: TestApp, text: String, query: String = "", scope: APIScope? = nil
    ) async -> [JSON] {
        let answer = await app.ask(
            "POST", "/v1/batches\(query)", bytes: Array(text.utf8), keys: [], scope: scope)
        #expect(answer.status == 200)
        #expect(answer["Content-Type"] == "application/x-ndjson")
        return answer.text.split(separator: "\n").map {
            (try? JSON.parse(Array($0.utf8))) ?? .null
        }
    }

    private func gift(_ number: Int, to account: String = "u1", coins: JSON = 1) -> JSON {
        [
            "command": "grant", "accountId": .string(account),
            "idempotencyKey": .string("k\(number)"), "coins": coins, "reason": "campaign",
        ]
    }

    @Test func `answers each line as the command alone would have been`() async throws {
        try await TestApp.run { app in
            let spend = await app.post("spends", ["coins": 1, "purpose": "x"], key: "alone")
            let outcomes = await post(
                app,
                [
                    gift(1, coins: 50),
                    [
                        "command": "spend", "accountId": "u1", "idempotencyKey": "k2",
                        "stampId": "heart", "quantity": 1, "programmeId": "p",
                    ],
                    [
                        "command": "adjustment", "accountId": "u1", "idempotencyKey": "k3",
                        "coins": -5, "kind": "free", "reason": "x", "ticketId": "t",
                    ],
                    [
                        "command": "hold", "accountId": "u1", "idempotencyKey": "k4", "coins": 3,
                        "purpose": "x",
                    ],
                    [
                        "command": "spend", "accountId": "u1", "idempotencyKey": "alone",
                        "coins": 1, "purpose": "x",
                    ],
                ])
            #expect(outcomes.map { $0["line"] } == [1, 2, 3, 4, 5])
            #expect(outcomes.map { $0["status"] } == [201, 201, 201, 201, 409])
            #expect(outcomes.map { $0["replayed"] } == [false, false, false, false, true])
            #expect(outcomes[1]["body"]?["balance"]?["total"] == 20)
            #expect(outcomes[4]["body"] == spend.json)
            let spent = try #require(outcomes[1]["body"]?["eventId"])
            let hold = try #require(outcomes[3]["body"]?["holdId"])
            let later = await post(
                app,
                [
                    [
                        "command": "reversal", "accountId": "u1", "idempotencyKey": "k5",
                        "spendId": spent, "reason": "x",
                    ],
                    [
                        "command": "capture", "accountId": "u1", "idempotencyKey": "k6",
                        "holdId": hold, "coins": 2,
                    ],
                    [
                        "command": "release", "accountId": "u1", "idempotencyKey": "k7",
                        "holdId": hold,
                    ],
                ])
            #expect(later.map { $0["status"] } == [201, 201, 404])
            #expect(await app.balance()["available"] == 43)
        }
    }

    @Test func `sent again is answered the same, and does nothing`() async throws {
        try await TestApp.run { app in
            let lines = (0..<1200).map { gift($0, to: "u\($0 % 7)") }
            let first = await post(app, lines)
            let again = await post(app, lines)
            #expect(first.map { $0["line"] } == (1...1200).map { .integer($0) })
            #expect(first.map { $0["body"] } == again.map { $0["body"] })
            #expect(first.allSatisfy { $0["status"] == 201 && $0["replayed"] == false })
            #expect(again.allSatisfy { $0["replayed"] == true })
            #expect(await app.total() == 172)
            // The line is the same request as the command alone.
            let alone = await app.ask(
                "POST", "/v1/accounts/u1/grants", ["coins": 1, "reason": "campaign"], key: "k1")
            #expect(alone.isReplayed)
            #expect(alone.json == first[1]["body"])
        }
    }

    @Test func `changes one account in the order of its lines`() async throws {
        try await TestApp.run { app in
            let lines = (0..<1000).map { number -> JSON in
                number % 2 == 0
                    ? gift(number, coins: 7)
                    : [
                        "command": "spend", "accountId": "u1",
                        "idempotencyKey": .string("k\(number)"), "coins": 7, "purpose": "x",
                    ]
            }
            let outcomes = await post(app, lines)
            #expect(outcomes.allSatisfy { $0["status"] == 201 })
            #expect(
                outcomes.map { $0["body"]?["balance"]?["version"] }
                    == (1...1000).map { .integer($0) })
        }
    }

    @Test func `with lines that are wrong goes on after them`() async throws {
        try await TestApp.run { app in
            let key = #""idempotencyKey":"w""#
            let lines: [(text: String, status: JSON, code: JSON?)] = [
                ("{", 400, "malformed_json"), ("[]", 400, "invalid_body"),
                (#"{"command":"give"}"#, 400, "invalid_body"),
                (#"{"command":"grant","accountId":"a b"}"#, 400, "invalid_account_id"),
                (#"{"command":"grant"}"#, 400, "invalid_account_id"),
                (
                    #"{"command":"grant","accountId":"u1","coins":1,"reason":"x"}"#, 400,
                    "idempotency_key_required"
                ),
                (
                    #"{"command":"grant","accountId":"u1","idempotencyKey":1,"coins":1,"reason":"x"}"#,
                    400, "invalid_idempotency_key"
                ),
                (
                    #"{"command":"grant","accountId":"u1",\#(key),"coins":1,"reason":"x","x":1}"#,
                    400, "invalid_body"
                ),
                (
                    #"{"command":"grant","accountId":"u1",\#(key),"coins":1,"reason":"x","holdId":"0-1"}"#,
                    400, "invalid_body"
                ),
                (
                    #"{"command":"reversal","accountId":"u1",\#(key),"reason":"x"}"#, 404,
                    "spend_not_found"
                ),
                (#"{"command":"release","accountId":"u1",\#(key)}"#, 404, "hold_not_found"),
                (
                    #"{"command":"spend","accountId":"u1",\#(key),"coins":1,"purpose":"x"}"#, 409,
                    "insufficient_coins"
                ),
                (
                    #"{"command":"grant","accountId":"u1",\#(key),"coins":1,"reason":"x"}"#, 422,
                    "idempotency_key_reused"
                ),
            ]
            let last = String(decoding: gift(1).bytes, as: UTF8.self)
            let text = "\n" + lines.map { $0.text + "\n \r\n" }.joined() + last
            let outcomes = await post(app, text: text)
            #expect(outcomes.count == lines.count + 1)
            for (index, outcome) in outcomes.dropLast().enumerated() {
                #expect(outcome["line"] == .integer(Int64(2 + index * 2)))
                #expect(outcome["status"] == lines[index].status, "\(lines[index].text)")
                #expect(outcome["body"]?["code"] == lines[index].code, "\(lines[index].text)")
            }
            #expect(outcomes.last?["status"] == 201)
            #expect(await app.total() == 1)
        }
    }

    @Test func `does only what its key may do`() async throws {
        try await TestApp.run { app in
            let lines: [JSON] = [
                gift(1, coins: 5),
                [
                    "command": "spend", "accountId": "u1", "idempotencyKey": "k2",
                    "stampId": "heart", "quantity": 1, "programmeId": "p",
                ],
            ]
            let outcomes = await post(app, lines, scope: .grants)
            #expect(outcomes.map { $0["status"] } == [201, 403])
            #expect(outcomes[1]["body"]?["code"] == "forbidden")
            for scope: APIScope in [.read, .purchases, .store] {
                let answer = await app.ask(
                    "POST", "/v1/batches", bytes: gift(1).bytes, keys: [], scope: scope)
                #expect((answer.status, answer.code) == (403, "forbidden"))
            }
        }
    }

    @Test func `as a trial leaves no trace`() async throws {
        try await TestApp.run { app in
            let outcomes = await post(app, [gift(1), gift(2)], query: "?dryRun=true")
            #expect(outcomes.map { $0["status"] } == [201, 201])
            #expect(await app.total() == 0)
            let done = await post(app, [gift(1)])
            #expect(done[0]["replayed"] == false)
        }
    }

    @Test func `has ten thousand commands at most, and may have none`() async throws {
        try await TestApp.run { app in
            #expect(await post(app, text: "") == [])
            #expect(await post(app, text: "\n\n").count == 0)
            let line = #"{"command":"x"}"# + "\n"
            let most = String(repeating: line, count: 10_000)
            #expect(await post(app, text: most).count == 10_000)
            let answer = await app.ask(
                "POST", "/v1/batches", bytes: Array((most + line).utf8), keys: [])
            #expect((answer.status, answer.code) == (413, "too_many_commands"))
        }
    }
}
