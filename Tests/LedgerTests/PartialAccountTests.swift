import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import LedgerTestSupport
import PostgresEventStore
import TestSupport
import Testing

/// Coins come in without anybody reading the lots that are there, which only PostgreSQL leaves out.
@Suite struct `An account whose lots weren't read` {
    private func gift(
        _ coins: Coins, expiresAt: Timestamp? = nil, at time: Timestamp = .noon
    ) -> Command {
        let gift = Gift(
            environment: .production, coins: coins, expiresAt: expiresAt, reason: "test",
            campaignID: nil)
        return Command(id: .random(), account: "u1", time: time, action: .give(gift))
    }

    private func withLedgers(
        _ body: @escaping @Sendable (PostgresEventStore, () -> Ledger) async throws -> Void
    ) async throws {
        try await withPostgres { (database, loop) async throws in
            try await withPostgresStore(of: database, on: loop) { (store) async throws in
                try await body(store, { Ledger(store, loop) })
                try await expectSound(store)
            }
        }
    }

    @Test func `has the sums of all, and its lots once coins are taken out`() async throws {
        try await withLedgers { (store, ledger) async throws in
            let first = ledger()
            _ = try await first.submit(.grant("T1", to: "u1", free: 10, command: 1))
            _ = try await first.submit(gift(5, expiresAt: "2027-01-01T00:00:00Z"))
            let cold = ledger()
            let granted = try await cold.submit(.grant("T2", to: "u1", free: 10, command: 2))
            #expect(granted.balance.production.paid == 200)
            #expect(granted.balance.production.free == 25)
            #expect(granted.balance.production.nextExpiry == "2027-01-01T00:00:00Z")
            // The same writer, which holds the account without its lots.
            let spent = try await cold.submit(try .spend(120, key: "s"))
            #expect(spent.text == "201 105")
            let account = try #require(try await store.account("u1"))
            #expect(account.production.free == 0)
            #expect(account.production.openLots.map(\.lot.number) == [1, 4])
        }
    }

    /// Older lots aren't in the account's row: only a look at them tells that there is enough.
    @Test func `is read with them while another batch is being appended`() async throws {
        try await withPostgres { (database, loop) async throws in
            try await withPostgresStore(of: database, on: loop) { (postgres) async throws in
                let first = Ledger(postgres, loop)
                for _ in 0..<24 { _ = try await first.submit(gift(5)) }
                _ = try await first.submit(.grant("T1", to: "u3", command: 1))
                let store = ScriptedStore(postgres)
                let writer = LedgerWriter(0, store, loop)
                _ = try await writer.submit(.grant("T2", to: "u3", command: 2))
                let loads = store.loadedAccounts.count
                store.hold()
                async let held = writer.submit(.grant("T3", to: "u3", command: 3))
                await store.waitUntilHeld()
                // Nobody knows u1 here, and half of what it takes is in older lots.
                async let spent = writer.submit(.spend(100, of: "u1", command: 4))
                while store.statesRead.count < 2 { await loop.sleep(milliseconds: 1) }
                store.release()
                #expect(try await held.isDone)
                #expect(try await spent.balance.production.free == 20)
                #expect(store.statesRead == [["u1"], ["u1"]])
                #expect(store.loadedAccounts.count == loads)
                // Coins come in without those lots; then they are read to take some out.
                for _ in 0..<9 { _ = try await writer.submit(gift(1)) }
                let cold = ScriptedStore(postgres)
                let other = LedgerWriter(0, cold, loop)
                _ = try await other.submit(gift(1))
                #expect(cold.loadedAccounts == [["u1"]])
                cold.hold()
                async let second = other.submit(.grant("T4", to: "u3", command: 5))
                await cold.waitUntilHeld()
                async let all = other.submit(.spend(30, of: "u1", command: 6))
                while cold.statesRead.isEmpty { await loop.sleep(milliseconds: 1) }
                cold.release()
                #expect(try await second.isDone)
                #expect(try await all.balance.production.total == 0)
                #expect(cold.statesRead == [["u1"]])
                #expect(cold.loadedAccounts == [["u1"], ["u3"]])
                try await expectSound(postgres)
            }
        }
    }

    @Test func `is read with them where a batch puts in and takes out`() async throws {
        try await withLedgers { (store, ledger) async throws in
            _ = try await ledger().submit(.grant("T1", to: "u1", command: 1))
            let spend = Spend(
                environment: .production, coins: 105,
                purpose: Purpose(subject: .other("test"), programmeID: nil, performerID: nil),
                consumption: Consumption(order: .freeFirst, policyVersion: "test"))
            let outcomes = try await ledger().submit(
                [
                    gift(10),
                    Command(id: .random(), account: "u1", time: .noon, action: .spend(spend)),
                ], of: "u1")
            #expect(outcomes.map(\.isDone) == [true, true])
            #expect(outcomes.last?.balance.production.total == 5)
        }
    }

    @Test func `is read with them once some may have expired`() async throws {
        try await withLedgers { (store, ledger) async throws in
            _ = try await ledger().submit(gift(7, expiresAt: "2026-12-01T00:00:00Z"))
            let cold = ledger()
            let before = try await cold.submit(gift(1))
            #expect(before.balance.production.total == 8)
            // By the writer that holds it without, and by one that doesn't hold it.
            for (ledger, total): (Ledger, Coins) in [(cold, 2), (ledger(), 3)] {
                let after = try await ledger.submit(gift(1, at: "2026-12-01T00:00:00Z"))
                #expect(after.balance.production.total == total)
            }
        }
    }

    @Test func `pays its debt from new coins all the same`() async throws {
        try await withLedgers { (store, ledger) async throws in
            let first = ledger()
            _ = try await first.submit(.grant("T1", to: "u1", command: 1))
            _ = try await first.submit(.grant("T2", to: "u1", command: 2))
            _ = try await first.submit(try .spend(150, key: "s"))
            let grant = try #require(
                try await store.claims(on: [.appStore("T1")]).granted[.appStore("T1")]?.grant)
            let stored = try #require(try await store.event(grant))
            guard case .coinsGranted(let granted) = try EventCodec.decode(stored) else { return }
            let notice = RefundNotice(
                purchase: .appStore("T1"), lots: granted.lots, percentage: 100_000,
                signedAt: .noon, shortfallPolicy: .debt)
            let refunded = try await ledger().submit(
                Command(id: .random(), account: "u1", time: .noon, action: .refund(notice)))
            #expect(refunded.balance.production.debt == 100)
            let paid = try await ledger().submit(gift(30))
            #expect(paid.balance.production.debt == 70)
            #expect(paid.balance.production.total == 50)
        }
    }
}
