import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import InMemoryEventStore
import LedgerTestSupport
import PostgresEventStore
import TestSupport
import Testing

/// Runs `body` with a scripted store of two lanes and the writer of lane 0.
func withWriter(
    _ limits: WriterLimits = .quick,
    _ body: @escaping @Sendable (ScriptedStore, LedgerWriter) async throws -> Void
) async throws {
    try await onLoop { (loop) async throws in
        let store = ScriptedStore(InMemoryEventStore(laneCount: 2))
        try await body(store, LedgerWriter(0, store, loop, limits))
    }
}

/// With u1 and u3 in the writer's memory, each with the 100 coins of a purchase.
func withKnownAccounts(
    _ limits: WriterLimits = .quick,
    _ body: @escaping @Sendable (ScriptedStore, LedgerWriter) async throws -> Void
) async throws {
    try await withWriter(limits) { (store, writer) async throws in
        _ = try await writer.submit(.grant("K1", to: "u1", command: 1))
        _ = try await writer.submit(.grant("K2", to: "u3", command: 2))
        try await body(store, writer)
    }
}

private func grants(_ numbers: Range<Int>, to account: AccountID = "u1") throws -> [Command] {
    try numbers.map { number in
        .grant(
            try #require(TransactionID("T\(number)")), to: account, command: UInt64(number))
    }
}

@Suite struct `A writer's batches` {
    @Test func `hold one command when nobody else wants anything`() async throws {
        try await withWriter { (store, writer) async throws in
            for command in try grants(0..<3) { #expect(try await writer.submit(command).isDone) }
            #expect(store.batchSizes == [1, 1, 1])
        }
    }

    @Test func `hold whatever came while the last one was committed`() async throws {
        try await withWriter { (store, writer) async throws in
            store.hold()
            async let first = writer.submit(.grant("T0", to: "u1", command: 1))
            await store.waitUntilHeld()
            let others = try grants(1..<6, to: "u3")
            async let outcomes = each(others, by: writer)
            await settle()
            store.release()
            #expect(try await first.isDone)
            #expect(try await outcomes.allSatisfy(\.isDone))
            #expect(store.batchSizes == [1, 5])
            try await expectSound(store)
        }
    }

    @Test func `have a limit`() async throws {
        var limits = WriterLimits.quick
        limits.batchCommandsMax = 2
        try await withWriter(limits) { (store, writer) async throws in
            let outcomes = try await writer.submit(try grants(0..<5))
            #expect(outcomes.count == 5)
            #expect(outcomes.map(\.balance.version) == [2, 4, 6, 8, 10])
            #expect(store.batchSizes == [2, 2, 1])
        }
    }

    @Test func `are not appended when no command changes anything`() async throws {
        try await withWriter { (store, writer) async throws in
            #expect(try await writer.submit(.grant("T1", to: "u1", command: 1)).isDone)
            let again = try await writer.submit(.grant("T1", to: "u1", command: 2))
            #expect(!again.isDone)
            // The first append of the repeated purchase was refused by its claim, and then it was
            // looked for.
            #expect(store.appends == 2)
            #expect(!(try await writer.submit(.grant("T1", to: "u1", command: 3)).isDone))
            #expect(store.appends == 2)
            #expect(try await writer.submit([]).isEmpty)
        }
    }

    /// Submits each command by itself, all at once.
    private func each(
        _ commands: [Command], by writer: LedgerWriter
    ) async throws -> [Outcome] {
        try await withThrowingTaskGroup(of: Outcome.self) { group in
            for command in commands { group.addTask { try await writer.submit(command) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}

@Suite struct `A writer's queue` {
    private var limits: WriterLimits {
        var limits = WriterLimits.quick
        limits.queuedCommandsMax = 3
        // What is sent ahead waits no more.
        limits.batchesUnderWayMax = 1
        return limits
    }

    @Test func `refuses at once what it has no room for`() async throws {
        try await withWriter(limits) { (store, writer) async throws in
            store.hold()
            // The first one is taken out of the queue.
            async let first = writer.submit(.grant("T0", to: "u1", command: 1))
            await store.waitUntilHeld()
            let three = try grants(1..<4)
            async let waiting = writer.submit(three)
            await settle()
            let refused = try await writerFailure {
                _ = try await writer.submit(.grant("T9", to: "u1"))
            }
            #expect(refused == .overloaded)
            store.release()
            #expect(try await first.isDone)
            #expect(try await waiting.allSatisfy(\.isDone))
            #expect(try await writer.submit(.grant("T9", to: "u1", command: 9)).isDone)
            #expect(try await expectSound(store).count == 5)
        }
    }

    @Test func `takes all commands of a submission or none`() async throws {
        try await withWriter(limits) { (store, writer) async throws in
            let four = try grants(0..<4)
            let refused = try await writerFailure { _ = try await writer.submit(four) }
            #expect(refused == .overloaded)
            #expect(store.loadedAccounts.isEmpty)
            #expect(try await writer.submit(Array(four.prefix(3))).allSatisfy(\.isDone))
        }
    }
}

@Suite struct `Commands of one batch` {
    @Test func `don't harm their neighbours`() async throws {
        try await withWriter { (store, writer) async throws in
            let outcomes = try await writer.submit([
                .grant("T1", to: "u1", command: 1),
                .grant("T1", to: "u1", command: 2),
                .grant("T2", to: "u1", paid: 9_007_199_254_740_991, command: 3),
                .grant("T3", to: "u1", token: token, command: 4),
                .grant("T4", to: "u3", command: 5),
            ])
            let claim = PurchaseClaim(
                account: "u1", command: .numbered(1), grant: EventID(lane: 0, position: 2),
                coins: GrantedCoins(paid: 100, free: 0))
            #expect(
                outcomes.map(\.events) == [
                    [EventID(lane: 0, position: 1), EventID(lane: 0, position: 2)], nil, nil, nil,
                    [EventID(lane: 0, position: 3), EventID(lane: 0, position: 4)],
                ])
            #expect(
                outcomes.map(\.rejection) == [
                    nil, .alreadyGranted(claim), .balanceTooLarge, .belongsToOtherAccount, nil,
                ])
            #expect(outcomes.map(\.balance.production.paid) == [100, 100, 100, 100, 100])
            try await expectSound(store)
        }
    }

    @Test func `see what those before them have changed`() async throws {
        try await withWriter { (store, writer) async throws in
            let outcomes = try await writer.submit([
                .grant("T1", to: "u1", token: token, command: 1),
                .link(token, to: "u1", command: 2),
                .grant("T1", to: "u1", token: token, command: 3),
                .link(token, to: "u3", command: 4),
                .grant("T2", original: "T1", to: "u3", command: 5),
                .grant("T3", to: "u1", command: 6),
            ])
            #expect(
                outcomes.map(\.rejection) == [
                    .belongsToOtherAccount, nil, nil, .tokenLinkedToOtherAccount,
                    .grantedToOtherAccount, nil,
                ])
            #expect(outcomes.last?.balance.production.paid == 200)
            #expect(try await store.account("u1")?.lotCount == 2)
            #expect(store.appends == 1)
            try await expectSound(store)
        }
    }

    @Test func `of two accounts give a purchase to the first`() async throws {
        try await withWriter { (store, writer) async throws in
            let outcomes = try await writer.submit([
                .grant("T1", to: "u3", command: 1), .grant("T1", to: "u1", command: 2),
            ])
            #expect(outcomes.map(\.isDone) == [true, false])
            #expect(outcomes[1].rejection == .grantedToOtherAccount)
            #expect(outcomes[1].balance == .zero)
            #expect(try await expectSound(store) == [.appStore("T1"): 1])
        }
    }
}

@Suite struct `Two writers of one lane` {
    @Test func `find out what the other has written`() async throws {
        try await onLoop { (loop) async throws in
            let store = ScriptedStore(InMemoryEventStore(laneCount: 2))
            let writers = [LedgerWriter(0, store, loop), LedgerWriter(0, store, loop)]
            // Each has the account in its cache when the other changes it.
            for (index, command) in try grants(0..<6).enumerated() {
                let outcome = try await writers[index % 2].submit(command)
                #expect(outcome.isDone)
                #expect(outcome.balance.production.paid.amount == Int64(index + 1) * 100)
                #expect(outcome.balance.version == Int64(index + 1) * 2)
            }
            let again = try await writers[0].submit(.grant("T1", to: "u3", command: 99))
            #expect(again.rejection == .grantedToOtherAccount)
            #expect(try await expectSound(store).count == 6)
        }
    }

    @Test func `grant a purchase once when both are asked at the same time`() async throws {
        try await onLoop { (loop) async throws in
            let store = ScriptedStore(InMemoryEventStore(laneCount: 2))
            let writers = [LedgerWriter(0, store, loop), LedgerWriter(0, store, loop)]
            store.hold()
            async let first = writers[0].submit(.grant("T1", to: "u1", command: 1))
            async let second = writers[1].submit(.grant("T1", to: "u1", command: 2))
            await store.waitUntilHeld()
            await settle()
            store.release()
            let outcomes = [try await first, try await second]
            #expect(outcomes.count(where: \.isDone) == 1)
            #expect(outcomes.map(\.balance.production.paid) == [100, 100])
            #expect(try await expectSound(store) == [.appStore("T1"): 1])
        }
    }
}

@Suite struct `A writer that others outrun` {
    @Test func `keeps them from its lane after a few attempts`() async throws {
        try await withWriter { (store, writer) async throws in
            store.fail(.conflict, .conflict)
            #expect(try await writer.submit(.grant("T1", to: "u1", command: 1)).isDone)
            #expect(store.turns == [])
            store.fail(.conflict, .conflict, .conflict, .conflict, .conflict)
            #expect(try await writer.submit(.grant("T2", to: "u1", command: 2)).isDone)
            #expect(store.turns == ["take", "end"])
            #expect(try await writer.submit(.grant("T3", to: "u1", command: 3)).isDone)
            #expect(store.turns == ["take", "end"])
        }
    }

    @Test func `lets them in again though it has failed`() async throws {
        try await withWriter { (store, writer) async throws in
            store.failAlways(.conflict)
            let failure = try await writerFailure {
                _ = try await writer.submit(.grant("T1", to: "u1", command: 1))
            }
            #expect(failure == .unavailable)
            #expect(store.turns == ["take", "end"])
        }
    }

    @Test func `has its turn in PostgreSQL, while an append of another waits`() async throws {
        try await withPostgres { (database, loop) async throws in
            try await withPostgresStore(of: database, on: loop) { (first) async throws in
                try await withPostgresStore(of: database, on: loop) { (second) async throws in
                    try await first.takeTurn(in: 0)
                    async let outrun = Ledger(second, loop).submit(.grant("T1", to: "u1"))
                    // A lane of its own isn't kept, and neither is the one who keeps.
                    #expect(
                        try await Ledger(second, loop).submit(.grant("T2", to: "u2")).isDone)
                    #expect(
                        try await Ledger(first, loop).submit(
                            .grant("T3", to: "u1", command: 3)
                        ).isDone)
                    #expect(try await first.heads()[0] == 2)
                    try await first.endTurn(in: 0)
                    #expect(try await outrun.isDone)
                    #expect(try await first.heads()[0] == 4)
                    try await expectSound(first)
                }
            }
        }
    }
}

@Suite struct `A writer's look for claims` {
    @Test func `comes before the append for a while after one was taken`() async throws {
        var limits = WriterLimits.quick
        limits.cautiousBatches = 2
        try await withWriter(limits) { (store, writer) async throws in
            let new = try grants(0..<5)
            _ = try await writer.submit(new[0])
            _ = try await writer.submit(new[1])
            #expect(store.loadedAccounts.count == 1)
            // Refused by the claim of the first purchase, then looked for.
            #expect(!(try await writer.submit(.grant("T0", to: "u1", command: 99)).isDone))
            #expect(store.loadedAccounts.count == 2)
            for command in new[2...] { #expect(try await writer.submit(command).isDone) }
            #expect(store.loadedAccounts.count == 3)
            try await expectSound(store)
        }
    }
}

@Suite struct `A writer's memory of accounts` {
    @Test func `spares reading an account again`() async throws {
        try await withWriter { (store, writer) async throws in
            for command in try grants(0..<3) { _ = try await writer.submit(command) }
            #expect(store.loadedAccounts == [["u1"]])
        }
    }

    @Test func `holds so many and no more, the last used longest`() async throws {
        var limits = WriterLimits.quick
        limits.cachedAccountsMax = 4
        try await withWriter(limits) { (store, writer) async throws in
            // All of lane 0. Two make a generation, of which there are two.
            let accounts: [AccountID] = ["u1", "u3", "a", "player-1", "u1"]
            for (index, account) in accounts.enumerated() {
                let id = try #require(TransactionID("T\(index)"))
                _ = try await writer.submit(.grant(id, to: account, command: UInt64(index)))
            }
            #expect(
                store.loadedAccounts == [["u1"], ["u3"], ["a"], ["player-1"]])
            // u3 has been forgotten for u1, which was used since.
            _ = try await writer.submit([
                .grant("T5", to: "player-1", command: 5), .grant("T6", to: "u1", command: 6),
            ])
            _ = try await writer.submit(.grant("T7", to: "u3", command: 7))
            #expect(store.loadedAccounts.suffix(2) == [["player-1"], ["u3"]])
            try await expectSound(store)
        }
    }

    /// What these batches do to them is written nowhere yet.
    @Test func `holds all accounts of batches under way, however few it may`() async throws {
        var limits = WriterLimits.quick
        limits.cachedAccountsMax = 1
        try await withWriter(limits) { (store, writer) async throws in
            _ = try await writer.submit(.grant("T0", to: "u1", command: 1))
            store.hold()
            async let first = writer.submit(.grant("T1", to: "u1", command: 2))
            await store.waitUntilHeld()
            async let second = writer.submit([
                .grant("T2", to: "u3", command: 3), .grant("T3", to: "a", command: 4),
            ])
            await settle()
            #expect(store.heldCount == 2)
            async let third = writer.submit(.spend(150, of: "u1", command: 5))
            await settle()
            store.release()
            #expect(try await first.isDone)
            #expect(try await second.allSatisfy(\.isDone))
            #expect(try await third.balance.production.paid == 50)
            #expect(store.loadedAccounts == [["u1"]])
            #expect(store.statesRead == [["u3", "a"]])
            try await expectSound(store)
        }
    }

    @Test func `is given up when another process has written`() async throws {
        try await withWriter { (store, writer) async throws in
            _ = try await writer.submit(.grant("T1", to: "u1", command: 1))
            let head = try await store.load(LoadRequest(lane: 0)).head
            try await store.append(TestBatch(after: head).grant("T2", to: "u3").batch)
            let outcome = try await writer.submit(.grant("T3", to: "u1", command: 3))
            #expect(outcome.balance.production.paid == 200)
            #expect(store.loadedAccounts == [["u1"], [], ["u1"]])
            try await expectSound(store)
        }
    }
}

extension Command {
    static func spend(
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
