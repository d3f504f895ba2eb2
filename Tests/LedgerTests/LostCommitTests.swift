import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import LedgerTestSupport
import PostgresEventStore
import TestSupport
import Testing

/// Real connections that break at the worst moments.
@Suite struct `A connection that breaks during an append` {
    private static let cuts: [CuttingProxy.Cut] = [.beforeForwarding, .afterCommit]

    @Test(arguments: cuts)
    func `leaves one grant and its outcome`(cut: CuttingProxy.Cut) async throws {
        try await withProxy { (database, loop, proxy, ledger) async throws in
            // Whatever is prepared at first use is prepared.
            #expect(try await ledger.submit(.grant("T0", to: "u1", command: 1)).isDone)
            proxy.arm(cut)
            let outcome = try await ledger.submit(.grant("T1", to: "u1", command: 2))
            #expect(outcome.isDone)
            #expect(outcome.balance.production.paid == 200)
            #expect(proxy.count == 1)
            let again = try await ledger.submit(.grant("T1", to: "u1", command: 3))
            guard case .alreadyGranted(let claim) = again.rejection else {
                Issue.record("unexpected: \(again)")
                return
            }
            #expect(claim.command == .numbered(2))
            #expect(
                try await expectSound(ledger.store) == [.appStore("T0"): 1, .appStore("T1"): 1])
        }
    }

    @Test func `again and again leaves one grant for each purchase`() async throws {
        try await withProxy { (database, loop, proxy, ledger) async throws in
            proxy.arm(.afterCommit, .beforeForwarding, .beforeForwarding, .afterCommit)
            let commands = (1...6).compactMap { number in
                TransactionID("T\(number)").map {
                    Command.grant($0, to: "u1", command: UInt64(number))
                }
            }
            let outcomes = try await ledger.submit(commands, of: "u1")
            #expect(outcomes.map(\.isDone) == [true, true, true, true, true, true])
            #expect(try await ledger.submit(.grant("T7", to: "u1", command: 7)).isDone)
            #expect(proxy.count == 4)
            #expect(try await expectSound(ledger.store).count == 7)
        }
    }

    @Test func `while the server goes on leaves one grant`() async throws {
        try await withProxy { (database, loop, proxy, ledger) async throws in
            #expect(try await ledger.submit(.grant("T0", to: "u1", command: 1)).isDone)
            let lock = try await LaneLock(database, loop)
            proxy.arm(.whileExecuting)
            async let outcome = ledger.submit(.grant("T1", to: "u1", command: 2))
            // The orphaned append and the one that was decided anew both wait for the lane.
            try await lock.waitForAppends(2)
            await lock.release()
            #expect(try await outcome.isDone)
            #expect(try await outcome.balance.production.paid == 200)
            #expect(
                try await expectSound(ledger.store) == [.appStore("T0"): 1, .appStore("T1"): 1])
        }
    }

    @Test func `because the server ends it leaves one grant`() async throws {
        try await withProxy { (database, loop, _, ledger) async throws in
            #expect(try await ledger.submit(.grant("T0", to: "u1", command: 1)).isDone)
            let lock = try await LaneLock(database, loop)
            async let outcome = ledger.submit(.grant("T1", to: "u1", command: 2))
            try await lock.waitForAppends(1)
            try await lock.terminateAppends()
            await lock.release()
            #expect(try await outcome.isDone)
            #expect(try await outcome.balance.production.paid == 200)
            #expect(
                try await expectSound(ledger.store) == [.appStore("T0"): 1, .appStore("T1"): 1])
        }
    }

    @Test func `between two appends is made again`() async throws {
        try await withProxy { (database, loop, _, ledger) async throws in
            #expect(try await ledger.submit(.grant("T0", to: "u1", command: 1)).isDone)
            try endSessions(of: database)
            let outcome = try await submit(
                .grant("T1", to: "u1", command: 2), to: ledger, on: loop)
            #expect(outcome.isDone)
            #expect(outcome.balance.production.paid == 200)
            try await expectSound(ledger.store)
        }
    }

    private func withProxy(
        _ body:
            @escaping @Sendable (TestDatabase, EventLoop, CuttingProxy, Ledger) async throws ->
            Void
    ) async throws {
        try await withPostgres { (database, loop) async throws in
            let proxy = try CuttingProxy(to: TestCluster.shared.socketPath())
            defer { proxy.stop() }
            try await withPostgresStore(of: database, on: loop, through: proxy) { store in
                try await body(database, loop, proxy, Ledger(store, loop))
            }
        }
    }
}

@Suite struct `A database that takes no writes` {
    @Test func `refuses commands, and takes them afterwards`() async throws {
        try await withPostgres { (database, loop) async throws in
            try await withPostgresStore(of: database, on: loop) { store in
                let ledger = Ledger(store, loop)
                #expect(await store.isWritable())
                #expect(try await ledger.submit(.grant("T0", to: "u1", command: 1)).isDone)

                try setReadOnly(true, database)
                #expect(await !store.isWritable())
                let failure = try await writerFailure {
                    _ = try await ledger.submit(.grant("T1", to: "u1", command: 2))
                }
                #expect(failure == .unavailable)
                #expect(try await store.heads() == [0: 2, 1: 0])
                #expect(try await store.account("u1")?.production.paid == 100)

                try setReadOnly(false, database)
                let outcome = try await submit(
                    .grant("T1", to: "u1", command: 3), to: ledger, on: loop)
                #expect(outcome.isDone)
                #expect(await store.isWritable())
                #expect(try await expectSound(store).count == 2)
            }
        }
    }

    /// For new sessions, of which there are none else afterwards.
    private func setReadOnly(_ isReadOnly: Bool, _ database: TestDatabase) throws {
        try TestCluster.shared.admin(
            "ALTER DATABASE \(database.name) SET default_transaction_read_only = \(isReadOnly)")
        try endSessions(of: database)
    }
}

private func endSessions(of database: TestDatabase) throws {
    try TestCluster.shared.admin(
        """
        SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
        WHERE datname = '\(database.name)'
        """)
}

/// Submits until the ledger is there again.
private func submit(
    _ command: Command, to ledger: Ledger, on loop: EventLoop
) async throws -> Outcome {
    for _ in 0..<500 {
        do { return try await ledger.submit(command) } catch WriterError.unavailable {
            await loop.sleep(milliseconds: 5)
        }
    }
    throw WriterError.unavailable
}
