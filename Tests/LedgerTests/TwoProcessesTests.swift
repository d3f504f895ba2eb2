import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import LedgerTestSupport
import PostgresEventStore
import TestSupport
import Testing

/// Two instances of the service on one database, each with an event loop of its own.
@Suite struct `Two processes` {
    private static let purchases = 40

    /// Lanes claim the same purchases in opposite order, so that each would wait for the other if
    /// they were claimed in the order of the commands.
    @Test func `grant each purchase once, whatever they are asked at the same time`() async throws {
        try await withPostgres { (database, loop) async throws in
            let asked: [(account: AccountID, isReversed: Bool)] = [("u1", false), ("u2", true)]
            async let first = outcomes(of: asked, in: database)
            async let second = outcomes(of: asked.reversed(), in: database)
            let all = try await first + second
            #expect(all.count == 4 * Self.purchases)
            #expect(try await deadlocks(in: database, on: loop) == [["0"]])
            #expect(all.count(where: \.isDone) == Self.purchases)
            try await withPostgresStore(of: database, on: loop) { store in
                #expect(try await expectSound(store).count == Self.purchases)
                var coins: Int64 = 0
                for account: AccountID in ["u1", "u2"] {
                    coins += try await store.account(account)?.production.paid.amount ?? 0
                }
                #expect(coins == Int64(Self.purchases) * 100)
            }
        }
    }

    @Test func `grant to one account what both are asked for it`() async throws {
        try await withPostgres { (database, loop) async throws in
            async let first = outcomes(of: [("u1", false)], in: database)
            async let second = outcomes(of: [("u1", true)], in: database)
            let all = try await first + second
            #expect(all.count(where: \.isDone) == Self.purchases)
            try await withPostgresStore(of: database, on: loop) { store in
                #expect(try await expectSound(store).count == Self.purchases)
                let account = try await store.account("u1")
                #expect(account?.production.paid.amount == Int64(Self.purchases) * 100)
            }
        }
    }

    @Test func `aren't needed for two threads: writers take commands from any`() async throws {
        try await withPostgres { (database, loop) async throws in
            try await withPostgresStore(of: database, on: loop) { (store) async throws in
                let ledger = Ledger(store, loop)
                async let here = grants(0..<40, by: ledger, on: loop)
                async let there = onLoop { other in
                    try await grants(40..<80, by: ledger, on: other)
                }
                #expect(try await here == 40)
                #expect(try await there == 40)
                #expect(try await expectSound(store).count == 80)
            }
        }
    }

    /// How many of these purchases are granted when all are submitted at once.
    private func grants(
        _ numbers: Range<Int>, by ledger: Ledger, on loop: EventLoop
    ) async throws -> Int {
        let accounts: [AccountID] = ["u1", "u2", "u3", "player-1"]
        let tasks = try numbers.map { number in
            let id = try #require(TransactionID("T\(number)"))
            let command = Command.grant(
                id, to: accounts[number % accounts.count], command: UInt64(number))
            return loop.task { try? await ledger.submit(command) }
        }
        var count = 0
        for task in tasks where await task.value?.isDone == true { count += 1 }
        return count
    }

    @Test func `link a token to one account`() async throws {
        try await withPostgres { (database, loop) async throws in
            async let first = link("u1", in: database)
            async let second = link("u2", in: database)
            let outcomes = [try await first, try await second]
            #expect(outcomes.count(where: \.isDone) == 1)
            #expect(outcomes.count { $0.rejection == .tokenLinkedToOtherAccount } == 1)
            try await withPostgresStore(of: database, on: loop) { store in
                try await expectSound(store)
                #expect(try await store.heads().values.reduce(0, +) == 1)
            }
        }
    }

    /// Every purchase for every account, each command by itself, in small batches.
    private func outcomes(
        of asked: [(account: AccountID, isReversed: Bool)], in database: TestDatabase
    ) async throws -> [Outcome] {
        var commands: [Command] = []
        for (account, isReversed) in asked {
            let numbers = Array(0..<Self.purchases)
            for number in isReversed ? numbers.reversed() : numbers {
                let id = try #require(TransactionID("T\(number)"))
                commands.append(.grant(id, to: account, command: .random(in: 0 ... .max)))
            }
        }
        let wished = commands
        return try await inProcess(of: database) { ledger in
            try await withThrowingTaskGroup(of: Outcome.self) { group in
                for command in wished { group.addTask { try await ledger.submit(command) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
    }

    private func link(
        _ account: AccountID, in database: TestDatabase
    ) async throws -> Outcome {
        try await inProcess(of: database) { try await $0.submit(.link(token, to: account)) }
    }

    private func inProcess<Value: Sendable>(
        of database: TestDatabase, _ body: @escaping @Sendable (Ledger) async throws -> Value
    ) async throws -> Value {
        try await onLoop { (loop) async throws in
            try await withPostgresStore(of: database, on: loop) { store in
                var limits = WriterLimits.quick
                limits.batchCommandsMax = 8
                return try await body(Ledger(store, loop, limits))
            }
        }
    }
}

@Suite struct `Two lanes that claim the same purchases` {
    @Test func `never wait for each other, whatever order they were told in`() async throws {
        try await withPostgres { (database, loop) async throws in
            try await withPostgresStore(of: database, on: loop) { store in
                var heads: [Lane: Int64] = [0: 0, 1: 0]
                for round in 0..<2 {
                    let first = try batch(0, "u1", heads[0] ?? 0, round, 0)
                    // A dictionary with more room keeps its elements in another order.
                    let second = try batch(1, "u2", heads[1] ?? 0, round, 50_000)
                    #expect(first.claims.map(\.key) != second.claims.map(\.key))
                    async let one = append(first, to: store)
                    async let other = append(second, to: store)
                    let failures = [await one, await other]
                    #expect(failures.filter { $0 == nil }.count == 1)
                    #expect(failures.filter { $0 == .claimed }.count == 1)
                    heads = try await store.heads()
                }
            }
            #expect(try await deadlocks(in: database, on: loop) == [["0"]])
        }
    }

    private func append(
        _ batch: Batch, to store: PostgresEventStore
    ) async -> EventStoreError? {
        await storeFailure { () throws(EventStoreError) in try await store.append(batch) }
    }

    /// One event with many claims, which nothing but this test would make.
    private func batch(
        _ lane: Lane, _ account: AccountID, _ head: Int64, _ round: Int, _ capacity: Int
    ) throws -> Batch {
        let id = EventID(lane: lane, position: head + 1)
        var claims: [PurchaseKey: PurchaseClaim] = [:]
        claims.reserveCapacity(capacity)
        for number in 0..<4_000 {
            let transaction = try #require(TransactionID("T\(round)-\(number)"))
            claims[.appStore(transaction)] = PurchaseClaim(
                account: account, command: .numbered(1), grant: id,
                coins: GrantedCoins(paid: 1, free: 0))
        }
        let event = StoredEvent(
            id: id, account: account, version: head + 1, command: .numbered(1),
            occurredAt: .noon, recordedAt: .noon, type: "Anything", schemaVersion: 1, payload: [])
        let state = Account(
            version: head + 1, production: .empty, sandbox: .empty, lotCount: 0)
        var batch = Batch(
            lane: lane, expectedHead: LaneHead(position: head, batch: 0), number: 0)
        batch.events = [event]
        batch.accounts = [
            ChangedAccount(
                id: account, account: state, versionBefore: head, lotCountBefore: 0,
                changedLots: [])
        ]
        batch.claims = claims
        return batch
    }
}

/// As counted when all sessions have ended, since they report at their end.
private func deadlocks(
    in database: TestDatabase, on loop: EventLoop
) async throws -> [[String?]] {
    for _ in 0..<1_000 {
        let sessions = try database.run(
            """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
        if sessions == [["0"]] { break }
        await loop.sleep(milliseconds: 2)
    }
    return try database.run(
        "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
}
