import CoinLedger
import CoinLedgerService
import EventStore
import LedgerTestSupport
import Testing

/// u1, u3 and "a" are in lane 0.
@Suite struct `A batch that follows one under way` {
    @Test func `is sent once it's as large, and a third one isn't`() async throws {
        try await withKnownAccounts { (store, writer) async throws in
            store.hold()
            async let first = each(writer, 11...12)
            await store.waitUntilHeld()
            async let second = writer.submit(.grant("T2", to: "u1", command: 21))
            await settle()
            #expect(store.heldCount == 1)
            async let third = writer.submit(.grant("T3", to: "u1", command: 22))
            await settle()
            #expect(store.heldCount == 2)
            async let fourth = each(writer, 31...34)
            await settle()
            #expect(store.heldCount == 2)
            store.release()
            #expect(try await (first + fourth).allSatisfy(\.isDone))
            #expect(try await second.isDone)
            #expect(try await third.isDone)
            #expect(store.batchSizes.suffix(3) == [2, 2, 4])
            try await expectSound(store)
        }
    }

    /// Only the first one's answer is lost; the other one couldn't be there without it.
    @Test func `proves that that was appended`() async throws {
        try await withKnownAccounts { (store, writer) async throws in
            let reads = store.loadedAccounts.count
            store.fail(.unknownAfter)
            try await expectTwo(store, writer)
            #expect(store.loadedAccounts.count == reads)
            #expect(store.appends == 4)
        }
    }

    @Test(
        arguments: [
            [.conflict], [.unknownBefore], [.unknownBefore, .unknownBefore],
            [.unknownAfter, .unknownBefore], [.conflict, .unknownBefore],
            [.conflict, .unavailable],
            [.conflict, .conflict, .conflict, .conflict, .conflict],
        ] as [[ScriptedStore.Fault]])
    func `is decided again after it if that fails`(faults: [ScriptedStore.Fault]) async throws {
        try await withKnownAccounts { (store, writer) async throws in
            for fault in faults { store.fail(fault) }
            try await expectTwo(store, writer)
        }
    }

    @Test func `is done once if both answers are lost`() async throws {
        try await withKnownAccounts { (store, writer) async throws in
            store.fail(.unknownAfter, .unknownAfter)
            let (first, second) = try await bothUnderWay(store) {
                try await writer.submit(.grant("T1", to: "u1", command: 11))
            } then: {
                try await writer.submit(.grant("T2", to: "u1", command: 12))
            }
            #expect(first.isDone)
            #expect(second.isDone)
            #expect(second.balance.production.paid == 300)
            try await expectSound(store)
        }
    }

    @Test(arguments: [ScriptedStore.Fault.unavailable, .corrupt])
    func `is carried out though that is refused`(fault: ScriptedStore.Fault) async throws {
        try await withKnownAccounts { (store, writer) async throws in
            store.fail(fault)
            let (failure, second) = try await bothUnderWay(store) {
                try await writerFailure {
                    _ = try await writer.submit(.grant("T1", to: "u1", command: 11))
                }
            } then: {
                try await writer.submit(.spend(50, of: "u1", command: 12))
            }
            #expect(failure == .unavailable)
            #expect(second.balance.production.paid == 50)
            try await expectSound(store)
        }
    }

    @Test func `is refused for what it met itself`() async throws {
        try await withKnownAccounts { (store, writer) async throws in
            let (first, second) = try await bothUnderWay(store) {
                try await writer.submit(.grant("T1", to: "u1", command: 11))
            } then: {
                // Granted when the accounts were made known; only its claim tells.
                try await writer.submit(.grant("K1", to: "u1", command: 12))
            }
            #expect(first.isDone)
            #expect(!second.isDone)
            try await expectSound(store)
        }
    }

    @Test func `comes after it in a turn, too`() async throws {
        try await withKnownAccounts { (store, writer) async throws in
            store.fail(.conflict, .conflict, .conflict, .conflict, .conflict, .conflict)
            try await expectTwo(store, writer)
            #expect(store.turns.count == 2 * store.turns.count { $0 == "take" })
            #expect(store.turns.first == "take")
            #expect(store.turns.last == "end")
        }
    }

    /// A purchase of 100 coins, and a spend that needs some of them.
    private func expectTwo(_ store: ScriptedStore, _ writer: LedgerWriter) async throws {
        let (first, spent) = try await bothUnderWay(store) {
            try await writer.submit(.grant("T1", to: "u1", command: 11))
        } then: {
            try await writer.submit(.spend(150, of: "u1", command: 12))
        }
        #expect(first.isDone)
        #expect(spent.rejection == nil)
        #expect(spent.balance.production.paid == 50)
        try await expectSound(store)
    }

    /// Submits something, and something else once that is on its way; lets both through when they are.
    private func bothUnderWay<First: Sendable, Second: Sendable>(
        _ store: ScriptedStore, _ first: @escaping @Sendable () async throws -> First,
        then second: @escaping @Sendable () async throws -> Second
    ) async throws -> (First, Second) {
        store.hold()
        async let one = first()
        await store.waitUntilHeld()
        async let other = second()
        await settle()
        #expect(store.heldCount == 2)
        store.release()
        return try await (one, other)
    }

    /// As many purchases at once as there are numbers.
    private func each(
        _ writer: LedgerWriter, _ numbers: ClosedRange<UInt64>
    ) async throws -> [Outcome] {
        try await writer.submit(
            numbers.map { number in
                .grant(
                    try #require(TransactionID("N\(number)")), to: "u3", command: number)
            })
    }
}
