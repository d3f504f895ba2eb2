import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import LedgerTestSupport
import Telemetry
import TestSupport
import Testing

private func withRefunds(
    _ kind: StoreKind, shortfall: ShortfallPolicy = .debt,
    _ body: @escaping @Sendable (any EventStore, Ledger, RefundService) async throws -> Void
) async throws {
    let policy = LedgerPolicy(
        version: "test", consumption: .freeFirst, freeExpiry: nil, refundShortfall: shortfall,
        holdSeconds: 60, holdSecondsMax: 600)
    try await kind.withStore { (store, loop) async throws in
        let ledger = Ledger(store, loop)
        try await body(
            store, ledger,
            RefundService(ledger: ledger, policy: { policy }, clock: { .noon }, log: .none))
    }
}

private func notice(
    _ id: TransactionID, _ percentage: Int64, _ signedAt: Timestamp
) -> RefundWord {
    RefundWord(purchase: .appStore(id), percentage: percentage, signedAt: signedAt)
}

extension RefundService.Result {
    var isUnchanged: Bool {
        if case .unchanged = self { true } else { false }
    }

    var isRemembered: Bool {
        if case .remembered = self { true } else { false }
    }
}

@Suite struct `The store's word on refunds` {
    @Test(arguments: StoreKind.allCases)
    func `takes coins, the difference only, and gives them back`(kind: StoreKind) async throws {
        try await withRefunds(kind) { (store, ledger, refunds) async throws in
            _ = try await ledger.submit(.grant("T1", to: "u1", free: 10))
            for (percentage, signedAt, paid, free) in [
                (40_000, "2026-12-01T00:00:00Z", 60, 6), (40_000, "2026-12-01T00:00:00Z", 60, 6),
                (67_932, "2026-12-02T00:00:00Z", 32, 3), (100_000, "2026-12-03T00:00:00Z", 0, 0),
                (50_000, "2026-12-02T12:00:00Z", 0, 0), (0, "2026-12-04T00:00:00Z", 100, 10),
                (100_000, "2026-12-03T12:00:00Z", 100, 10),
            ] as [(Int64, Timestamp, Coins, Coins)] {
                _ = try await refunds.submit(notice("T1", percentage, signedAt))
                let balance = try await store.account("u1")?.balance(at: .noon).production
                #expect(balance?.paid == paid)
                #expect(balance?.free == free)
            }
            try await expectSound(store)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `makes debt, which new coins pay`(kind: StoreKind) async throws {
        try await withRefunds(kind) { (store, ledger, refunds) async throws in
            _ = try await ledger.submit(.grant("T1", to: "u1", command: 1))
            _ = try await ledger.submit(try .spend(80, key: "s"))
            _ = try await refunds.submit(notice("T1", 100_000, "2026-12-01T00:00:00Z"))
            var balance = try #require(try await store.account("u1")).balance(at: .noon).production
            #expect((balance.total, balance.debt, balance.available) == (0, 80, 0))
            #expect(try await ledger.submit(try .spend(1, key: "t")).text == "409 0")
            _ = try await ledger.submit(.grant("T2", to: "u1", command: 2))
            balance = try #require(try await store.account("u1")).balance(at: .noon).production
            #expect((balance.total, balance.debt, balance.available) == (20, 0, 20))
            _ = try await refunds.submit(notice("T1", 0, "2026-12-02T00:00:00Z"))
            balance = try #require(try await store.account("u1")).balance(at: .noon).production
            #expect((balance.total, balance.debt) == (120, 0))
            try await expectSound(store)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `before any post refuses the purchase`(kind: StoreKind) async throws {
        try await withRefunds(kind) { (store, ledger, refunds) async throws in
            let first = notice("T1", 100_000, "2026-12-01T00:00:00Z")
            #expect(try await refunds.submit(first).isRemembered)
            #expect(try await refunds.submit(first).isUnchanged)
            for command: UInt64 in 1...2 {
                let posted = try await ledger.submit(.grant("T1", to: "u1", command: command))
                #expect(posted.rejection == .refundedBefore)
            }
            let claims = try await store.claims(on: [.appStore("T1")])
            #expect(claims.granted.isEmpty)
            #expect(claims.remembered[.appStore("T1")]?.refund.percentage == 100_000)
            try await expectSound(store)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `that ended in a reversal before any post lets it be granted`(
        kind: StoreKind
    ) async throws {
        try await withRefunds(kind) { (store, ledger, refunds) async throws in
            #expect(
                try await refunds.submit(notice("T1", 100_000, "2026-12-01T00:00:00Z"))
                    .isRemembered)
            #expect(
                try await refunds.submit(notice("T1", 0, "2026-12-02T00:00:00Z")).isRemembered)
            #expect(try await ledger.submit(.grant("T1", to: "u1", command: 1)).isDone)
            // An older refund, late.
            #expect(
                try await refunds.submit(notice("T1", 100_000, "2026-12-01T12:00:00Z"))
                    .isUnchanged)
            #expect(try await store.account("u1")?.production.paid == 100)
            let again = try await ledger.submit(.grant("T1", to: "u3", command: 2))
            #expect(again.rejection == .grantedToOtherAccount)
            try await expectSound(store)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `and the post at the same time end the same, whoever is first`(
        kind: StoreKind
    ) async throws {
        try await withRefunds(kind) { (store, ledger, refunds) async throws in
            for number in 0..<20 {
                let id = try #require(TransactionID("T\(number)"))
                async let granted = ledger.submit(
                    .grant(id, to: "u1", command: UInt64(number) + 1))
                async let refunded = refunds.submit(notice(id, 100_000, "2026-12-01T00:00:00Z"))
                _ = try await (granted, refunded)
            }
            #expect((try await store.account("u1") ?? .new).production.paid == 0)
            try await expectSound(store)
        }
    }
}
