import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import LedgerTestSupport
import PostgresEventStore
import TestSupport
import Testing

private let nobodysLane = Lane.of(.unclaimed, count: 2)

@Suite struct `An audit of lots` {
    @Test func `of a sound ledger finds nothing`() async throws {
        try await withLedger { (_, audit) async throws in
            let report = try await audit.run()
            #expect(report.findings == [])
            #expect(report.events == 14)
            #expect(report.accounts == 4)
            #expect(report.lots == 4)
        }
    }

    /// Somebody with a superuser's rights changes a row, and what the audit says of it.
    static let tamperings: [(sql: String, finding: String)] = [
        // The bytes of lot 1, which is in the row: what is left of it, the value that has left, its
        // price, currency, environment and event.
        (openLot(5, 102), "lot 1 of u1: kept as"),
        (openLot(5, 102), "account u1: kept as"),
        (openLot(6, 168), "lot 1 of u1: kept as"),
        (openLot(9, 130), "lot 1 of u1: kept as"),
        (openLot(13, 69), "lot 1 of u1: kept as"),
        (openLot(0, 25), "lot 1 of u1: kept as"),
        (openLot(2, 14), "lane 0: lots can't be read"),
        (openLot(0, 255), "lane 0: lots can't be read"),
        (openLot(3, 241), "lane 0: accounts can't be read"),
        // Lot 2 is used up.
        (olderLots("remaining = 1, is_open = true"), "lot 2 of u1: kept as"),
        (olderLots("remaining = 1, is_open = true"), "account u1: kept as"),
        (olderLots("value_out = 1"), "lot 2 of u1: kept as"),
        (olderLots("expires_at = NULL"), "lot 2 of u1: kept as"),
        (olderLots("position = 1"), "lane 0: lots can't be read"),
        (olderLots("kind = 'paid'"), "lot 2 of u1: kept as"),
        (olderLots("kind = 'gold'"), "lane 0: lots can't be read"),
        (
            "DELETE FROM coinledger.older_lots WHERE account = 'u1' AND number = 2",
            "account u1: 1 lots are kept, but its events opened 2"
        ),
        (accounts("free = 1"), "account u1: its balance is kept as"),
        (accounts("sandbox_paid = 1"), "account u1: its balance is kept as"),
        (accounts("next_expiry = '2027-01-01Z'"), "account u1: its balance is kept as"),
        (accounts("sandbox_next_expiry = '2027-01-01Z'"), "account u1: its balance is kept as"),
        (accounts("details = NULL"), "account u1: kept as"),
        (accounts("details = '{}'"), "account u1: kept as"),
        (accounts("details = '[]'"), "lane 0: accounts can't be read"),
        ("DELETE FROM coinledger.spend_reversals", "event 0-5: its reversal of 0-4 is kept as"),
        (
            "UPDATE coinledger.spend_reversals SET position = 9",
            "event 0-5: its reversal of 0-4 is kept as"
        ),
        (purchases("DELETE FROM", "", "T9"), "what it remembers of T9 is kept as nothing"),
        (
            purchases("UPDATE", "SET position = position - 2", "T9"),
            "what it remembers of T9 is kept as"
        ),
        (
            purchases("UPDATE", "SET account = 'u1', lane = 0, position = 2", "T9"),
            "what it remembers of T9 is kept as"
        ),
        (purchases("DELETE FROM", "", "T8"), "its claim on T8 is kept as nothing"),
        (payload(3, #""coins":30"#, #""coins":31"#), "event 0-3: leaves -1 coins in lot 2"),
        (payload(3, #""lot":2"#, #""lot":9"#), "event 0-3: moves coins of lot 9"),
        (payload(5, #""coins":10"#, #""coins":90"#), "event 0-5: leaves 150 coins in lot 1"),
        (payload(2, #""number":2"#, #""number":1"#), "event 0-2: opens lot 1 of u1 again"),
        (payload(6, #""coins":20"#, #""coins":21"#), "account u1: kept as"),
        (payload(7, #""debt":5"#, #""debt":6"#), "account u1: kept as"),
    ]

    @Test(arguments: tamperings)
    func `finds tampering`(sql: String, finding: String) async throws {
        try await withLedger { (database, audit) async throws in
            try database.run("ALTER TABLE coinledger.events DISABLE TRIGGER USER")
            try database.run(sql)
            let report = try await audit.run()
            #expect(report.findings.contains { $0.contains(finding) }, "\(report.findings)")
            #expect(report.findingCount == Int64(report.findings.count))
        }
    }

    private static func openLot(_ byte: Int, _ value: UInt8) -> String {
        accounts("open_lots = set_byte(open_lots, \(byte), \(value))")
    }

    private static func olderLots(_ change: String) -> String {
        "UPDATE coinledger.older_lots SET \(change) WHERE account = 'u1' AND number = 2"
    }

    private static func accounts(_ change: String) -> String {
        "UPDATE coinledger.accounts SET \(change) WHERE account = 'u1'"
    }

    private static func purchases(
        _ command: String, _ change: String, _ id: TransactionID
    ) -> String {
        "\(command) coinledger.purchases \(change) WHERE transaction_id = '\(id)'"
    }

    private static func payload(_ position: Int64, _ old: String, _ new: String) -> String {
        """
        UPDATE coinledger.events SET payload = convert_to(
            replace(convert_from(payload, 'UTF8'), '\(old)', '\(new)'), 'UTF8')
        WHERE lane = 0 AND position = \(position)
        """
    }

    /// u1 has bought T1 (1, 2), spent 80 coins (3) and 10 (4), taken these back (5), holds 20 (6), and
    /// owes 5 of a refund that took 20 (7). u3 was given 5 coins (8). Nobody has T9, nor had T8 until
    /// u2 bought it.
    private func withLedger(
        _ body: @escaping @Sendable (TestDatabase, Audit) async throws -> Void
    ) async throws {
        try await withPostgres { (database, loop) async throws in
            try await withPostgresStore(of: database, on: loop) { store in
                let bought = TestBatch(head: 0).grant(
                    "T1", to: "u1", paid: 120, free: 30, price: TestBatch.price,
                    freeExpiresAt: "2026-12-01T00:00:00Z")
                let lot = try #require(bought.lot(1, of: "u1"))
                let spent = bought.spend([.free(2, 30), .paid(1, 50, value: 66_666)], of: "u1")
                    .spend([.paid(1, 10, value: 13_334)], of: "u1")
                let first = spent.reverse(
                    spent.lastEvent,
                    returning: [Slice.paid(1, 10, value: 13_334).returned(to: lot)], of: "u1"
                ).hold([HeldSlice(lot: 1, coins: 20)], of: "u1", until: "2026-11-30T12:05:00Z")
                    .refund(
                        "T1", of: "u1",
                        taken: [Slice.paid(1, 20, value: 26_667).returned(to: lot)], debt: 5
                    ).give(5, to: "u3", campaign: "xmas")
                try await store.append(first.batch)
                let head = nobodysLane == 0 ? first.head : 0
                let nobody = TestBatch(lane: nobodysLane, head: head).remember("T8").remember("T7")
                    .remember("T7", percentage: 0, signedAt: "2026-12-01T00:00:00Z")
                    .remember("T9")
                try await store.append(nobody.batch)
                let word = EventID(lane: nobodysLane, position: head + 1)
                let bought2 = TestBatch(lane: 1, head: nobodysLane == 1 ? nobody.head : 0).grant(
                    "T8", to: "u2"
                ).changing { $0.takenOver[.appStore("T8")] = word }
                try await store.append(bought2.batch)
                try await body(database, Audit(store: store))
            }
        }
    }
}
