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

    /// The second is on its way alone, while the third is being read.
    @Test func `has its account read meanwhile, if that isn't known`() async throws {
        try await withKnownAccounts { (store, writer) async throws in
            let reads = store.loadedAccounts.count
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
            #expect(store.statesRead == [["a"]])
            #expect(store.loadedAccounts.count == reads)
            #expect(store.batchSizes.suffix(3) == [1, 1, 2])
            try await expectSound(store)
        }
    }

    @Test func `is read with its batch if it couldn't be read before`() async throws {
        try await withKnownAccounts { (store, writer) async throws in
            store.hold()
            async let first = writer.submit(.grant("T1", to: "u1", command: 11))
            await store.waitUntilHeld()
            store.failLoads(.unavailable("x"))
            async let second = writer.submit(.grant("T2", to: "a", command: 12))
            await settle()
            store.release()
            #expect(try await first.isDone)
            #expect(try await second.isDone)
            #expect(store.statesRead == [["a"]])
            #expect(store.loadedAccounts.last == ["a"])
            try await expectSound(store)
        }
    }

    /// What is read while another process writes may be older than that.
    @Test func `isn't decided from what was read before a conflict`() async throws {
        try await withKnownAccounts { (store, writer) async throws in
            store.hold()
            async let first = writer.submit(.grant("T1", to: "u1", command: 11))
            await store.waitUntilHeld()
            async let second = writer.submit(.grant("T2", to: "a", command: 12))
            await settle()
            #expect(store.statesRead == [["a"]])
            let head = try await store.load(LoadRequest(lane: 0)).head
            try await store.appendUnheld(
                TestBatch(after: head, number: 1).grant("T0", to: "a", paid: 7).batch)
            store.release()
            #expect(try await first.balance.production.paid == 200)
            #expect(try await second.balance.production.paid == 107)
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
            // It's sent, and waits no more.
            await settle()
            async let third = writer.submit(.grant("T3", to: "u3", command: 13))
            async let fourth = writer.submit(.grant("T4", to: "u1", command: 14))
            await settle()
            let refused = try await writerFailure {
                _ = try await writer.submit(.grant("T5", to: "u1", command: 15))
            }
            #expect(refused == .overloaded)
            store.release()
            #expect(try await [first, second, third, fourth].allSatisfy(\.isDone))
            #expect(try await writer.submit(.grant("T5", to: "u1", command: 15)).isDone)
        }
    }
}
