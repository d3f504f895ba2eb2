import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import InMemoryEventStore
import LedgerTestSupport
import TestSupport
import Testing

/// u1, u3 and "a" are in lane 0.
@Suite struct `What comes while a batch is being committed` {
    @Test func `is decided meanwhile, after that batch, without reading anything`() async throws {
        try await withKnownAccounts { (store, writer) async throws in
            let reads = store.loadedAccounts.count
            store.hold()
            async let first = writer.submit(.grant("T1", to: "u1", command: 11))
            await store.waitUntilHeld()
            async let second = writer.submit(.grant("T2", to: "u1", command: 12))
            async let third = writer.submit(.spend(250, of: "u1", command: 13))
            async let fourth = writer.submit(.spend(60, of: "u1", command: 14))
            await settle()
            store.release()
            #expect(try await first.balance.version == 4)
            #expect(try await second.balance.production.paid == 300)
            #expect(try await third.balance.production.paid == 50)
            #expect(
                try await fourth.rejection == .insufficientCoins(needed: 60, available: 50))
            #expect(store.loadedAccounts.count == reads)
            #expect(store.appends == 4)
            try await expectSound(store)
        }
    }

    @Test(arguments: [ScriptedStore.Fault.unavailable, .corrupt])
    func `doesn't stand on what wasn't appended`(fault: ScriptedStore.Fault) async throws {
        try await withKnownAccounts { (store, writer) async throws in
            store.fail(fault)
            store.hold()
            async let first = writerFailure {
                _ = try await writer.submit(.grant("T1", to: "u1", command: 11))
            }
            await store.waitUntilHeld()
            async let second = writer.submit(.spend(60, of: "u1", command: 12))
            async let third = writer.submit(.spend(60, of: "u1", command: 13))
            await settle()
            store.release()
            #expect(try await first == .unavailable)
            #expect(try await second.balance.production.paid == 40)
            #expect(
                try await third.rejection == .insufficientCoins(needed: 60, available: 40))
            try await expectSound(store)
        }
    }

    @Test(arguments: [ScriptedStore.Fault.conflict, .unknownBefore, .unknownAfter])
    func `is decided again with it`(fault: ScriptedStore.Fault) async throws {
        try await withKnownAccounts { (store, writer) async throws in
            store.fail(fault, fault)
            store.hold()
            async let first = writer.submit(.grant("T1", to: "u1", command: 11))
            await store.waitUntilHeld()
            async let second = writer.submit(.spend(150, of: "u1", command: 12))
            async let third = writer.submit(.grant("T2", to: "u3", command: 13))
            await settle()
            store.release()
            #expect(try await first.isDone)
            #expect(try await second.balance.production.paid == 50)
            #expect(try await third.balance.production.paid == 200)
            try await expectSound(store)
        }
    }

    @Test func `doesn't stand on a purchase that proves to be granted`() async throws {
        try await withKnownAccounts { (store, writer) async throws in
            store.hold()
            // Granted when the accounts were made known; only its claim tells.
            async let first = writer.submit(.grant("K1", to: "u1", command: 11))
            await store.waitUntilHeld()
            async let second = writer.submit(.spend(150, of: "u1", command: 12))
            async let third = writer.submit(.spend(30, of: "u1", command: 13))
            await settle()
            store.release()
            #expect(try await !first.isDone)
            #expect(
                try await second.rejection == .insufficientCoins(needed: 150, available: 100))
            #expect(try await third.balance.production.paid == 70)
            try await expectSound(store)
        }
    }

    /// What isn't in memory is read once the batch is there, and appended with what was decided.
    @Test func `joins one batch, whether it had to be read or not`() async throws {
        try await withKnownAccounts { (store, writer) async throws in
            store.hold()
            async let first = writer.submit(.grant("T1", to: "u1", command: 11))
            await store.waitUntilHeld()
            async let second = writer.submit(.grant("T2", to: "u1", command: 12))
            async let third = writer.submit(.grant("T3", to: "a", command: 13))
            async let fourth = writer.submit(.grant("T4", to: "u3", command: 14))
            await settle()
            store.release()
            #expect(try await first.isDone)
            #expect(try await second.balance.production.paid == 300)
            #expect(try await third.balance.production.paid == 100)
            #expect(try await fourth.balance.production.paid == 200)
            #expect(store.loadedAccounts.last == ["a"])
            #expect(store.batchSizes.suffix(2) == [1, 3])
            try await expectSound(store)
        }
    }

    /// An account to which coins only came is known without its lots, and a spend needs those.
    @Test func `reads lots only when those that are coming are there`() async throws {
        try await onLoop { (loop) async throws in
            let store = ScriptedStore(InMemoryEventStore(laneCount: 2))
            let before = LedgerWriter(0, store, loop)
            _ = try await before.submit(.grant("K1", to: "u1", command: 1))
            _ = try await before.submit(.grant("K2", to: "u3", command: 2))
            let writer = LedgerWriter(0, store, loop)
            _ = try await writer.submit(.grant("K3", to: "u1", command: 3))
            store.hold()
            async let first = writer.submit(.grant("T1", to: "u3", command: 11))
            await store.waitUntilHeld()
            async let second = writer.submit(.grant("T2", to: "u1", command: 12))
            async let third = writer.submit(.spend(250, of: "u1", command: 13))
            await settle()
            store.release()
            #expect(try await first.balance.production.paid == 200)
            #expect(try await second.balance.production.paid == 300)
            #expect(try await third.balance.production.paid == 50)
            try await expectSound(store)
        }
    }

    @Test func `still waits, and counts against the queue's limit`() async throws {
        var limits = WriterLimits.quick
        limits.queuedCommandsMax = 2
        try await withKnownAccounts(limits) { (store, writer) async throws in
            store.hold()
            async let first = writer.submit(.grant("T1", to: "u1", command: 11))
            await store.waitUntilHeld()
            async let second = writer.submit(.grant("T2", to: "u1", command: 12))
            async let third = writer.submit(.grant("T3", to: "u3", command: 13))
            await settle()
            let refused = try await writerFailure {
                _ = try await writer.submit(.grant("T4", to: "u1", command: 14))
            }
            #expect(refused == .overloaded)
            store.release()
            #expect(try await [first, second, third].allSatisfy(\.isDone))
            #expect(try await writer.submit(.grant("T4", to: "u1", command: 14)).isDone)
        }
    }

    /// With u1 and u3 in the writer's memory, each with the 100 coins of a purchase.
    private func withKnownAccounts(
        _ limits: WriterLimits = .quick,
        _ body: @escaping @Sendable (ScriptedStore, LedgerWriter) async throws -> Void
    ) async throws {
        try await withWriter(limits) { (store, writer) async throws in
            _ = try await writer.submit(.grant("K1", to: "u1", command: 1))
            _ = try await writer.submit(.grant("K2", to: "u3", command: 2))
            try await body(store, writer)
        }
    }
}

extension Command {
    fileprivate static func spend(
        _ coins: Coins, of account: AccountID, command: UInt64
    ) -> Command {
        let spend = Spend(
            environment: .production, coins: coins,
            purpose: Purpose(subject: .other("test"), programmeID: nil, performerID: nil),
            consumption: .by(.freeFirst))
        return Command(
            id: .numbered(command), account: account, time: .noon, action: .spend(spend))
    }
}
