import AppStoreStandIn
import Base
import PrivatePostgres
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct `Posts at the same time` {
    @Test func `200 posts of one purchase through two processes make one grant`() async throws {
        try await World.run(services: 2) { world throws in
            let sale = try world.shop.sell()
            let ports = (0..<200).map { world.services[$0 % 2].port }
            let answers = try askAtOnce(ports, world.posting(sale.signedTransaction, to: "u1"))
            #expect(answers.filter { $0.status == 201 }.count == 1)
            #expect(answers.filter { $0.status == 409 }.count == 199)
            #expect(answers.allSatisfy { $0.finish == [sale.transactionID: true] })
            #expect(try world.total() == 100)
            #expect(try world.ledger.count("SELECT count(*) FROM coinledger.events") == 2)
        }
    }

    @Test func `50 purchases of a new account through two processes are all granted`() async throws
    {
        try await World.run(services: 2) { world throws in
            let questions = try (0..<50).map { index in
                (
                    port: world.services[index % 2].port,
                    question: world.posting(try world.shop.sell().signedTransaction, to: "new")
                )
            }
            let answers = try askAtOnce(questions)
            #expect(answers.filter { $0.status == 201 }.count == 50)
            #expect(try world.total("new") == 5000)
            let balances = Set(answers.compactMap { $0.json["balance"]?["version"]?.integer })
            #expect(balances == Set((1...50).map { Int64($0) * 2 }))
        }
    }

    @Test func `50 accounts that post one purchase get it once, and one of them has it`()
        async throws
    {
        try await World.run(services: 2) { world throws in
            let sale = try world.shop.sell()
            let answers = try askAtOnce(
                (0..<50).map {
                    (
                        world.services[$0 % 2].port,
                        world.posting(sale.signedTransaction, to: "u\($0)")
                    )
                })
            #expect(answers.filter { $0.status == 201 }.count == 1)
            #expect(answers.filter { $0.code == "granted_to_other_account" }.count == 49)
            #expect(try world.ledger.count("SELECT sum(paid) FROM coinledger.accounts") == 100)
        }
    }

    @Test func `50 app receipts with the same purchase make one grant`() async throws {
        try await World.run { world throws in
            let sale = try world.shop.sell()
            let answers = try askAtOnce(
                [UInt16](repeating: world.port, count: 50), world.posting(sale.receipt, to: "u1"))
            #expect(answers.filter { $0.status == 201 }.count == 1)
            #expect(answers.filter { $0.code == "already_granted" }.count == 49)
        }
    }

    @Test func `two instances that migrate a new database at once both succeed`() async throws {
        try await blocking {
            let database = try TestDatabase.create()
            let environment = ["COINLEDGER_DATABASE_URL": database.connectionString]
            let runs = try inParallel(4) { _ in
                try Program.run(["migrate"], environment: environment)
            }
            #expect(runs.map(\.exit) == [.code(0), .code(0), .code(0), .code(0)])
            #expect(runs.filter { $0.output == "applied: ledger; lanes: 2\n" }.count == 1)
            #expect(runs.filter { $0.output == "applied: none; lanes: 2\n" }.count == 3)
        }
    }
}

private let inParallelSecondsMax = 600.0

/// Runs `body` on so many threads at once and returns what they returned.
func inParallel<Value: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) throws -> Value
) throws -> [Value] {
    let results = Lock<[Int: Result<Value, any Error>]>([:])
    for index in 0..<count {
        Base.Thread.start {
            let result = Result { try body(index) }
            results.withLock { $0[index] = result }
        }
    }
    _ = eventually(seconds: inParallelSecondsMax) {
        results.withLock { $0.count } == count ? true : nil
    }
    let found = results.withLock { $0 }
    return try (0..<count).compactMap { try found[$0]?.get() }
}
