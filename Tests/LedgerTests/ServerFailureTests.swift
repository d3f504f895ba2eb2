import Base
import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import LedgerTestSupport
import Postgres
import PostgresEventStore
import PrivatePostgres
import Telemetry
import TestSupport
import Testing

@Suite struct `An append that waits too long` {
    @Test func `is given up by the server and leaves nothing`() async throws {
        try await withPostgres { (database, loop) async throws in
            var configuration = try PostgresConfiguration(
                database.connectionString(in: "coinledger_writer"))
            configuration.statementTimeoutMilliseconds = 50
            let store = try await PostgresEventStore.open(configuration, on: loop, log: .none)
            defer { store.close() }
            let lock = try await LaneLock(database, loop)
            let batch = TestBatch(head: 0).grant("T1", to: "u1").batch
            let failure = await storeFailure { () throws(EventStoreError) in
                try await store.append(batch)
            }
            guard case .unavailable = failure else {
                Issue.record("unexpected: \(String(describing: failure))")
                return
            }
            await lock.release()
            #expect(try await expectSound(store).isEmpty)
            let outcome = try await Ledger(store, loop).submit(.grant("T1", to: "u1"))
            #expect(outcome.isDone)
        }
    }

    @Test func `for the client is decided again and granted once`() async throws {
        try await withPostgres { (database, loop) async throws in
            var configuration = try PostgresConfiguration(
                database.connectionString(in: "coinledger_writer"))
            configuration.answerTimeoutMilliseconds = 100
            let store = try await PostgresEventStore.open(configuration, on: loop, log: .none)
            defer { store.close() }
            let ledger = Ledger(store, loop)
            let lock = try await LaneLock(database, loop)
            async let outcome = ledger.submit(.grant("T1", to: "u1"))
            try await lock.waitForAppends(2)
            await lock.release()
            #expect(try await outcome.isDone)
            #expect(try await expectSound(store) == [.appStore("T1"): 1])
        }
    }
}

@Suite struct `A server that is killed` {
    /// With a server of its own, which is as durable as PostgreSQL is by default.
    @Test func `loses nothing that was answered`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try PrivatePostgres.start(folder: folder.path)
        try await onLoop { (loop) async throws in
            let configuration = try PostgresConfiguration(server.adminURL)
            _ = try await Migrator(configuration, on: loop).migrate(laneCount: 2)
            let store = try await PostgresEventStore.open(configuration, on: loop, log: .none)
            defer { store.close() }
            let ledger = Ledger(store, loop)
            let answered = Lock<[PurchaseKey]>([])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for account: AccountID in ["u1", "u2", "u3", "u4"] {
                    group.addTask {
                        try await buy(60, for: account, from: ledger, on: loop) { key in
                            let count = answered.withLock { answered in
                                answered.append(key)
                                return answered.count
                            }
                            // Amid everything, with appends under way.
                            if count == 80 || count == 160 {
                                try server.kill()
                                try server.restart()
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let grants = try await expectSound(store)
            #expect(answered.withLock { $0 }.count == 240)
            #expect(Set(grants.keys) == Set(answered.withLock { $0 }))
        }
        try server.stop()
    }
}

/// Buys one thing after the other, each posted until the answer says that it's granted.
private func buy(
    _ count: Int, for account: AccountID, from ledger: Ledger, on loop: EventLoop,
    _ isAnswered: (PurchaseKey) throws -> Void
) async throws {
    for number in 0..<count {
        let id = try #require(TransactionID("\(account.text)-\(number)"))
        var outcome: Outcome?
        for _ in 0..<2_000 where outcome == nil {
            do {
                outcome = try await ledger.submit(
                    .grant(id, to: account, command: .random(in: 0 ... .max)))
            } catch WriterError.unavailable {
                await loop.sleep(milliseconds: 5)
            }
        }
        let last = try #require(outcome)
        if case .alreadyGranted(let claim) = last.rejection {
            #expect(claim.account == account)
        } else {
            #expect(last.isDone)
        }
        try isAnswered(.appStore(id))
    }
}
