import Base
import TestSupport
import Testing

/// Campaigns to many viewers.
@Suite(.timeLimit(.minutes(15))) struct `Batches over HTTP` {
    private func batch(_ world: World, _ lines: [JSON]) -> HTTPQuestion {
        HTTPQuestion(
            "POST", "/v1/batches",
            headers: [
                ("Authorization", "Bearer \(world.ledger.keys.everything)"),
                ("Content-Type", "application/x-ndjson"),
            ], body: lines.flatMap { $0.bytes + [UInt8(ascii: "\n")] })
    }

    private func outcomes(_ answer: HTTPAnswer) -> [JSON] {
        answer.text.split(separator: "\n").map { (try? JSON.parse(Array($0.utf8))) ?? .null }
    }

    private func gifts(_ count: Int, padding: Int = 1) -> [JSON] {
        (0..<count).map { number in
            [
                "command": "grant", "accountId": .string("v\(number % 1000)"),
                "idempotencyKey": .string("campaign-\(number)"), "coins": 3,
                "reason": .string(String(repeating: "x", count: padding)),
            ]
        }
    }

    @Test func `of ten thousand commands are answered in order, and again`() async throws {
        try await World.run { world throws in
            let question = batch(world, gifts(10_000, padding: 250))
            // Larger than any other request may be.
            #expect((2 << 20..<4 << 20).contains(question.body.count))
            for isReplayed in [false, true] {
                let answer = try world.ask(question)
                #expect(answer.status == 200)
                let outcomes = outcomes(answer)
                #expect(outcomes.map { $0["line"] } == (1...10_000).map { .integer($0) })
                #expect(outcomes.allSatisfy { $0["status"] == 201 })
                #expect(outcomes.allSatisfy { $0["replayed"] == .bool(isReplayed) })
            }
            #expect(try world.total("v17") == 30)
            #expect(try world.ledger.count("SELECT count(*) FROM coinledger.events") == 10_000)
        }
    }

    @Test func `sent through two processes at once do each command once`() async throws {
        try await World.run(services: 2) { world throws in
            let question = batch(world, gifts(2000))
            let answers = try askAtOnce(world.services.map(\.port), question).map(outcomes)
            #expect(answers[0].map { $0["body"] } == answers[1].map { $0["body"] })
            for (one, other) in zip(answers[0], answers[1]) {
                #expect(one["status"] == 201)
                #expect(one["replayed"] != other["replayed"])
            }
            #expect(try world.ledger.count("SELECT count(*) FROM coinledger.events") == 2000)
        }
    }

    @Test func `whose client has left are finished by sending them again`() async throws {
        try await World.run { world throws in
            let question = batch(world, gifts(10_000))
            do {
                let connection = try HTTPConnection(port: world.port)
                try connection.send(question.bytes)
                // Gone once the first outcomes are under way.
                let hasBegun = try eventually {
                    try world.ledger.count("SELECT count(*) FROM coinledger.events") > 0
                        ? true : nil
                }
                #expect(hasBegun == true)
            }
            let answer = try world.ask(question)
            #expect(outcomes(answer).allSatisfy { $0["status"] == 201 })
            #expect(try world.ledger.count("SELECT count(*) FROM coinledger.events") == 10_000)
            #expect(try world.ledger.count("SELECT sum(free) FROM coinledger.accounts") == 30_000)
        }
    }

    @Test func `larger than four mebibytes are refused`() async throws {
        try await World.run { world throws in
            let question = batch(world, gifts(10_000, padding: 490))
            #expect(question.body.count > 4 << 20)
            let answer = try HTTPConnection(port: world.port).askToBeRefused(question)
            #expect((answer.status, answer.code) == (413, "body_too_large"))
        }
    }
}

extension HTTPConnection {
    /// The answer may come, and the connection end, before everything is sent.
    fileprivate func askToBeRefused(_ question: HTTPQuestion) throws -> HTTPAnswer {
        try? send(question.bytes)
        return try answer()
    }
}
