import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import InMemoryEventStore
import LedgerTestSupport
import TestSupport
import Testing

@Suite struct `A balance reader` {
    @Test func `reads one account at once`() async throws {
        try await withReader { (store, reader) async throws in
            #expect(try await reader.balance(of: "u1").production.paid == 100)
            #expect(store.accountReads == [1])
        }
    }

    @Test func `knows an account nothing has happened to`() async throws {
        try await withReader { (_, reader) async throws in
            #expect(try await reader.balance(of: "u9") == .zero)
        }
    }

    @Test func `asks for everyone who waits together, and for each account once`() async throws {
        try await withReader { (store, reader) async throws in
            store.hold()
            async let first = reader.balance(of: "u1")
            await store.waitUntilHeld()
            let ids: [AccountID] = ["u1", "u3", "u1", "u9", "u3"]
            async let others = each(ids, reader)
            await settle()
            store.release()
            #expect(try await first.production.paid == 100)
            #expect(try await others == ["u1": 100, "u3": 500, "u9": 0])
            #expect(store.accountReads == [1, 3])
        }
    }

    @Test func `asks for so many at once and no more`() async throws {
        try await withReader { (store, reader) async throws in
            store.hold()
            async let first = reader.balance(of: "u1")
            await store.waitUntilHeld()
            let ids = (0...BalanceReader.accountsMax).compactMap { AccountID("x\($0)") }
            async let others = each(ids, reader)
            await settle()
            store.release()
            _ = try await first
            #expect(try await others.count == ids.count)
            #expect(store.accountReads == [1, 1024, 1])
        }
    }

    @Test func `fails those who wait and no others`() async throws {
        try await withReader { (store, reader) async throws in
            store.failLoads(.unavailable("x"))
            let failure = await storeFailure { () throws(EventStoreError) in
                _ = try await reader.balance(of: "u1")
            }
            #expect(failure == .unavailable("x"))
            #expect(try await reader.balance(of: "u1").production.paid == 100)
        }
    }

    private func withReader(
        _ body: @escaping @Sendable (ScriptedStore, BalanceReader) async throws -> Void
    ) async throws {
        try await onLoop { (loop) async throws in
            let store = ScriptedStore(InMemoryEventStore(laneCount: 2))
            try await store.append(
                TestBatch(head: 0).grant("T1", to: "u1").grant("T2", to: "u3", paid: 500).batch)
            try await body(store, BalanceReader(store: store, executor: loop, clock: { .noon }))
        }
    }

    /// Asks for each by itself, all at once.
    private func each(
        _ ids: [AccountID], _ reader: BalanceReader
    ) async throws -> [AccountID: Coins] {
        try await withThrowingTaskGroup(of: (AccountID, Coins).self) { group in
            for id in ids {
                group.addTask { (id, try await reader.balance(of: id).production.paid) }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }
}
