import Base
import CoinLedger
import TestSupport
import Testing

/// What clients rely on when they repeat commands, over sockets and on a real database.
@Suite(.timeLimit(.minutes(15))) struct `Commands over HTTP` {
    private static let gift: JSON = ["coins": 100, "reason": "welcome"]

    @Test func `in flight twice, through two processes, with one key make one event`() async throws
    {
        try await World.run(services: 2) { world throws in
            let question = world.commanding("grants", Self.gift, key: "k")
            let ports = (0..<100).map { world.services[$0 % 2].port }
            let answers = try askAtOnce(ports, question)
            #expect(answers.allSatisfy { $0.status == 201 })
            #expect(Set(answers.map(\.text)).count == 1)
            #expect(answers.filter { $0["Idempotent-Replayed"] == nil }.count == 1)
            #expect(try world.total() == 100)
            #expect(try world.ledger.count("SELECT count(*) FROM coinledger.events") == 1)
        }
    }

    @Test func `with one key and two contents, through two processes, are one of them`()
        async throws
    {
        try await World.run(services: 2) { world throws in
            let questions = (0..<60).map { index in
                (
                    port: world.services[index % 2].port,
                    question: world.commanding(
                        "grants", ["coins": .integer(Int64(1 + index / 2 % 2)), "reason": "x"],
                        key: "k")
                )
            }
            let answers = try askAtOnce(questions)
            let done = answers.filter { $0.status == 201 }
            #expect(done.count == 30)
            #expect(Set(done.map(\.text)).count == 1)
            #expect(answers.filter { $0.code == "idempotency_key_reused" }.count == 30)
            #expect(try world.ledger.count("SELECT count(*) FROM coinledger.events") == 1)
        }
    }

    @Test func `are answered the same by another process after this one was killed`() async throws {
        try await World.run { world throws in
            let first = try world.command("grants", Self.gift, key: "k")
            let spend: JSON = ["coins": 101, "purpose": "x"]
            let refused = try world.command("spends", spend, key: "poor")
            #expect((refused.status, refused.code) == (409, "insufficient_coins"))
            world.services[0].kill()
            try withService(of: world) { port throws in
                for (path, body, key, answer) in [
                    ("grants", Self.gift, "k", first), ("spends", spend, "poor", refused),
                ] {
                    let again = try world.ask(
                        world.commanding(path, body, key: key), port: port)
                    #expect(again["Idempotent-Replayed"] == "true")
                    #expect((again.status, again.text) == (answer.status, answer.text))
                }
                let other = try world.ask(
                    world.commanding("grants", ["coins": 99, "reason": "welcome"], key: "k"),
                    port: port)
                #expect((other.status, other.code) == (422, "idempotency_key_reused"))
            }
        }
    }

    @Test func `as a trial leave no trace in the database`() async throws {
        try await World.run { world throws in
            _ = try world.give(50)
            func traces() throws -> [[String]] {
                try world.ledger.rows(
                    """
                    SELECT (SELECT count(*) FROM coinledger.events),
                        (SELECT count(*) FROM coinledger.idempotency_answers),
                        (SELECT sum(remaining) FROM coinledger.lots)
                    """)
            }
            let before = try traces()
            let trial = try world.command(
                "spends?dryRun=true", ["coins": 20, "purpose": "x"], key: "k")
            #expect(trial.status == 201)
            #expect(trial.json["balance"]?["total"] == 30)
            #expect(try world.command("grants?dryRun=true", Self.gift, key: "k").status == 201)
            #expect(try traces() == before)
        }
    }

    @Test func `spend what there is, and not a coin more, from many clients at once`() async throws
    {
        try await World.run(services: 2) { world throws in
            _ = try world.give(1000)
            let questions = (0..<80).map { index in
                (
                    port: world.services[index % 2].port,
                    question: world.commanding(
                        "spends", ["stampId": "heart", "quantity": 1, "programmeId": "p"],
                        key: "s\(index)")
                )
            }
            let answers = try askAtOnce(questions)
            #expect(answers.filter { $0.status == 201 }.count == 33)
            #expect(answers.filter { $0.code == "insufficient_coins" }.count == 47)
            #expect(try world.total() == 10)
        }
    }

    @Test func `at another price than expected are refused`() async throws {
        try await World.run { world throws in
            _ = try world.give(100)
            let answer = try world.command(
                "spends",
                ["stampId": "heart", "quantity": 2, "programmeId": "p", "expectedCoins": 50])
            #expect((answer.status, answer.code) == (409, "price_changed"))
            #expect(answer.json["currentCoins"] == 60)
        }
    }

    @Test func `hold coins, and capture, release or forget them`() async throws {
        try await World.run { world throws in
            _ = try world.give(100)
            func hold(_ coins: JSON, seconds: JSON = 600) throws -> String {
                let answer = try world.command(
                    "holds", ["coins": coins, "purpose": "x", "holdSeconds": seconds])
                #expect(answer.status == 201)
                return answer.json["holdId"]?.string ?? ""
            }
            let captured = try hold(30)
            let released = try hold(20)
            _ = try hold(10, seconds: 1)
            #expect(try world.balance()["available"] == 40)
            #expect(
                try world.command("holds/\(captured)/capture", ["coins": 25]).status == 201)
            #expect(try world.command("holds/\(released)/release", [:]).status == 200)
            // Nothing but time frees the third.
            let isFree = try eventually {
                try world.balance()["available"] == 75 ? true : nil
            }
            #expect(isFree == true)
            #expect(try world.command("holds/\(captured)/capture", [:]).code == "hold_not_found")
            #expect(try world.audit().output.hasSuffix(" 0 findings\n"))
        }
    }

    @Test func `are taken back once, whoever asks`() async throws {
        try await World.run(services: 2) { world throws in
            _ = try world.give(100)
            let spend = try world.command("spends", ["coins": 60, "purpose": "x"])
            let id = spend.json["eventId"]?.string ?? ""
            let answers = try askAtOnce(
                (0..<20).map { index in
                    (
                        port: world.services[index % 2].port,
                        question: world.commanding(
                            "spends/\(id)/reversal", ["reason": "x"], key: "r\(index)")
                    )
                })
            #expect(answers.filter { $0.status == 201 }.count == 1)
            #expect(answers.filter { $0.code == "already_reversed" }.count == 19)
            #expect(try world.total() == 100)
        }
    }

    @Test func `give coins that expire on time, which is recorded once`() async throws {
        try await World.run { world throws in
            _ = try world.give(10)
            let soon = Timestamp(milliseconds: Shop.now() + 700)
            let gift = try world.command(
                "grants",
                [
                    "coins": 5, "reason": "x",
                    "expiresAt": .string(try #require(soon).description),
                ])
            #expect(gift.json["balance"]?["total"] == 15)
            let isGone = try eventually { try world.total() == 10 ? true : nil }
            #expect(isGone == true)
            #expect(try world.command("spends", ["coins": 11, "purpose": "x"]).status == 409)
            func expire() throws -> String {
                try Program.run(
                    ["expire"], environment: ["COINLEDGER_DATABASE_URL": world.ledger.serviceURL]
                ).output
            }
            #expect(try expire() == "5 coins of 1 lots in 1 accounts have expired\n")
            #expect(try expire() == "0 coins of 0 lots in 0 accounts have expired\n")
            #expect(
                try world.ledger.count(
                    "SELECT count(*) FROM coinledger.events WHERE type = 'CoinsExpired'") == 1)
            // The service finds out that another process has written.
            #expect(try world.command("spends", ["coins": 10, "purpose": "x"]).status == 201)
            #expect(try world.audit().output.hasSuffix(" 0 findings\n"))
        }
    }

    @Test func `follow the policy they are given`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try write(
            #"{"version": "p7", "consumption": "paid_first", "freeExpiry": null}"#,
            to: folder.path + "/policy.json")
        try await World.run(options: ["--policy", folder.path + "/policy.json"]) { world throws in
            _ = try world.post(try world.shop.sell("com.nonchalant.consumable1"))
            let spend = try world.command("spends", ["coins": 60, "purpose": "x"])
            #expect(spend.json["policyVersion"] == "p7")
            #expect(spend.json["coins"] == ["paid": 60, "free": 0, "total": 60])
            #expect(spend.json["balance"]?["nextExpiry"] == .null)
        }
    }

    @Test func `can be looked at as they were`() async throws {
        try await World.run { world throws in
            let gift = try world.give(100)
            let spend = try world.command("spends", ["coins": 60, "purpose": "x"])
            #expect(try world.total() == 40)
            for (answer, total): (HTTPAnswer, JSON) in [(gift, 100), (spend, 40)] {
                let id = answer.json["eventId"]?.string ?? ""
                #expect(try world.balance("?eventId=\(id)")["total"] == total)
                let time = try world.get("/v1/events/\(id)").json["recordedAt"]?.string ?? ""
                let then = try world.balance("?at=\(time)")
                #expect(then["asOf"] == .string(time))
                #expect(then["version"]?.integer ?? 0 >= 1)
            }
            #expect(try world.balance("?at=2020-01-01T00:00:00Z")["total"] == 0)
        }
    }
}
