import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import LedgerTestSupport
import PostgresEventStore
import Telemetry
import TestSupport
import Testing

@Suite struct `The lot projection` {
    @Test func `shows every lot with its source`() async throws {
        try await withProjector { (store, projector) async throws in
            try await store.append(
                TestBatch(head: 0).grant("T1", to: "u3", paid: 500, free: 50).link(
                    token, to: "u1"
                ).grant("T2", to: "u1", environment: .sandbox).batch)
            try await projector.catchUp()
            #expect(
                try await store.lots(in: 0, after: nil, limit: 10) == [
                    lot("u1", 1, .paid, 100, .appStore("T2", .sandbox), position: 5),
                    lot("u3", 1, .paid, 500, .appStore("T1"), position: 2),
                    lot("u3", 2, .free, 50, .appStore("T1"), position: 2),
                ])
            #expect(try await store.lotCheckpoint(of: 0) == 5)
            #expect(try await store.lotCheckpoint(of: 1) == 0)
        }
    }

    @Test func `pages by account and number`() async throws {
        try await withProjector { (store, projector) async throws in
            try await store.append(
                TestBatch(head: 0).grant("T1", to: "u1", free: 1).grant("T2", to: "u3").batch)
            try await projector.catchUp()
            func page(
                after last: (account: AccountID, number: Int64)?
            ) async throws -> [[String]] {
                try await store.lots(in: 0, after: last, limit: 2).map {
                    [$0.account.text, "\($0.lot.number)"]
                }
            }
            #expect(try await page(after: nil) == [["u1", "1"], ["u1", "2"]])
            #expect(try await page(after: ("u1", 1)) == [["u1", "2"], ["u3", "1"]])
            #expect(try await page(after: ("u3", 1)) == [])
        }
    }

    @Test func `goes on where it stopped, and does nothing twice`() async throws {
        try await withProjector { (store, projector) async throws in
            let first = TestBatch(head: 0).grant("T1", to: "u1")
            try await store.append(first.batch)
            try await projector.catchUp()
            try await projector.catchUp()
            try await store.append(first.next.grant("T2", to: "u1").batch)
            let restarted = LotProjector(store: store, log: .none)
            try await restarted.catchUp()
            let numbers = try await store.lots(in: 0, after: nil, limit: 10).map(\.lot.number)
            #expect(numbers == [1, 2])
        }
    }

    @Test func `is kept by two at once`() async throws {
        try await withPostgres { (database, loop) async throws in
            try await withPostgresStore(of: database, on: loop) { store in
                var batch = TestBatch(head: 0)
                for number in 0..<30 {
                    batch = batch.grant(try #require(TransactionID("T\(number)")), to: "u1")
                }
                try await store.append(batch.batch)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        let projector = LotProjector(store: store, log: .none)
                        group.addTask { try await projector.catchUp() }
                    }
                    try await group.waitForAll()
                }
                #expect(try await store.lots(in: 0, after: nil, limit: 100).count == 30)
            }
        }
    }

    @Test func `refuses to move a checkpoint that isn't where it's thought to be`() async throws {
        try await withProjector { (store, _) async throws in
            let failure = await storeFailure { () throws(EventStoreError) in
                try await store.project([], in: 0, from: 1, to: 2)
            }
            #expect(failure == .conflict)
            #expect(try await store.lotCheckpoint(of: 0) == 0)
        }
    }

    private func withProjector(
        _ body: @escaping @Sendable (PostgresEventStore, LotProjector) async throws -> Void
    ) async throws {
        try await withPostgres { (database, loop) async throws in
            try await withPostgresStore(of: database, on: loop) { store in
                try await body(store, LotProjector(store: store, log: .none))
            }
        }
    }

    private func lot(
        _ account: AccountID, _ number: Int64, _ kind: Lot.Kind, _ coins: Coins,
        _ key: PurchaseKey, position: Int64
    ) -> ProjectedLot {
        ProjectedLot(
            account: account, lot: Lot(number: number, kind: kind, coins: coins),
            remaining: coins, environment: key.environment, source: .purchase(key),
            grant: EventID(lane: 0, position: position), grantedAt: .noon)
    }
}
