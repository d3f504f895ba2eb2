import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import LedgerTestSupport
import PostgresEventStore
import Telemetry
import TestSupport
import Testing

@Suite struct `An audit` {
    @Test func `of a sound ledger finds nothing`() async throws {
        try await withAudit { (_, store, audit) async throws in
            let report = try await audit.run()
            #expect(report.findings == [])
            #expect(report.findingCount == 0)
            #expect(report.events == 9)
            #expect(report.accounts == 4)
            #expect(report.lots == 4)
        }
    }

    @Test func `of an empty ledger finds nothing`() async throws {
        try await withPostgres { (database, loop) async throws in
            try await withPostgresStore(of: database, on: loop) { store in
                let report = try await Audit(store: store).run()
                #expect(report.findingCount == 0)
                #expect(report.events == 0)
            }
        }
    }

    /// Somebody with a superuser's rights changes a row, and what the audit says of it.
    static let tamperings: [(sql: String, finding: String)] = [
        (
            "UPDATE coinledger.accounts SET paid = 101 WHERE account = 'u1'",
            "account u1: its balance is kept as"
        ),
        (
            "UPDATE coinledger.accounts SET version = 9 WHERE account = 'u1'", "account u1: kept as"
        ),
        (
            "UPDATE coinledger.accounts SET lot_count = 9 WHERE account = 'u1'",
            "account u1: kept as"
        ),
        ("DELETE FROM coinledger.accounts WHERE account = 'u3'", "lane 0: 1 accounts are not kept"),
        (
            "INSERT INTO coinledger.accounts VALUES ('u9', 0, 1, 1, 1, 1, 1, 1)",
            "account u9: kept, but it has no events"
        ),
        // The bytes of the only lot in the row: its coins, what is left of them, and its event.
        (openLots("set_byte(open_lots, 3, 202)"), "lot 1 of u1: kept as"),
        (openLots(#"set_byte(open_lots, 0, 16) || '\x0200'"#), "lot 1 of u1: kept as"),
        (openLots("set_byte(open_lots, 2, 8)"), "lot 1 of u1: kept as"),
        (openLots("NULL"), "account u1: 0 lots are kept"),
        (openLots("open_lots || set_byte(open_lots, 1, 4)"), "lot 2 of u1: kept as"),
        (openLots("substring(open_lots FROM 2)"), "lane 0: accounts can't be read"),
        (
            """
            INSERT INTO coinledger.older_lots
            SELECT 1, lane, 2, 100, 100, 0, NULL, NULL, true, account, 'Production', 'paid'
            FROM coinledger.accounts WHERE account = 'u1'
            """, "account u1: 2 lots are kept, but its events opened 1"
        ),
        (
            "DELETE FROM coinledger.events WHERE lane = 0 AND position = 2",
            "lane 0: after 1 comes 3"
        ),
        (
            "DELETE FROM coinledger.events WHERE lane = 0 AND position = 5",
            "lane 0: head is 5, but events end at 4"
        ),
        ("DELETE FROM coinledger.events WHERE lane = 0", "lane 0: head is 5, but events end at 0"),
        (
            "UPDATE coinledger.lanes SET position = 6 WHERE lane = 0",
            "lane 0: head is 6, but events end at 5"
        ),
        (
            "UPDATE coinledger.lanes SET position = 4 WHERE lane = 0",
            "lane 0: head is 4, but events go on"
        ),
        (
            """
            UPDATE coinledger.events
            SET payload = convert_to(replace(convert_from(payload, 'UTF8'), ':100}', ':900}'), 'UTF8')
            WHERE lane = 0 AND position = 2
            """, "account u1: kept as"
        ),
        (
            "UPDATE coinledger.events SET payload = '{}' WHERE lane = 0 AND position = 2",
            "event 0-2: the ledger isn't as it should be"
        ),
        (
            "UPDATE coinledger.events SET type = 'CoinsGiven' WHERE lane = 0 AND position = 2",
            "event 0-2: the ledger isn't as it should be"
        ),
        (
            "UPDATE coinledger.events SET version = 7 WHERE lane = 0 AND position = 2",
            "event 0-2: version 7 of u1 where 2 is due"
        ),
        (
            "UPDATE coinledger.events SET account = 'u2' WHERE lane = 0 AND position = 1",
            "event 0-1: account u2 belongs to another lane"
        ),
        ("DELETE FROM coinledger.purchases WHERE transaction_id = 'T1'", "event 0-2: its claim on"),
        (
            "UPDATE coinledger.purchases SET account = 'u2' WHERE transaction_id = 'T1'",
            "event 0-2: its claim on"
        ),
        (
            "UPDATE coinledger.purchases SET position = 4 WHERE transaction_id = 'T1'",
            "event 0-2: its claim on"
        ),
        (
            "DELETE FROM coinledger.purchases WHERE transaction_id = 'T0'",
            "event 1-2: its claim on T0"
        ),
        ("DELETE FROM coinledger.app_account_tokens", "event 0-5: its link of"),
        ("UPDATE coinledger.app_account_tokens SET account = 'u1'", "event 0-5: its link of"),
        ("DELETE FROM coinledger.orders", "its order M1 is kept as nothing"),
        ("UPDATE coinledger.orders SET position = 9", "its order M1 is kept as"),
        (
            "UPDATE coinledger.accounts SET details = NULL WHERE account = 'u2'",
            "account u2: kept as"
        ),
    ]

    private static func openLots(_ changed: String) -> String {
        "UPDATE coinledger.accounts SET open_lots = \(changed) WHERE account = 'u1'"
    }

    @Test(arguments: tamperings)
    func `finds tampering`(sql: String, finding: String) async throws {
        try await withAudit { (database, store, audit) async throws in
            try database.run("ALTER TABLE coinledger.events DISABLE TRIGGER USER")
            try database.run(sql)
            let report = try await audit.run()
            #expect(report.findings.contains { $0.contains(finding) }, "\(report.findings)")
            #expect(report.findingCount == Int64(report.findings.count))
        }
    }

    @Test func `comes to an end when events are missing below new ones`() async throws {
        try await withAudit { (database, store, audit) async throws in
            try database.run(
                """
                ALTER TABLE coinledger.events DISABLE TRIGGER USER;
                DELETE FROM coinledger.events WHERE lane = 0 AND position IN (4, 5);
                INSERT INTO coinledger.events
                SELECT 0, 6, 2, schema_version, occurred_at, recorded_at, 'u3', type, command,
                    payload
                FROM coinledger.events WHERE lane = 0 AND position = 3
                """)
            let report = try await audit.run()
            #expect(report.findings.contains("lane 0: head is 5, but events end at 3"))
        }
    }

    /// Lane 0: u1 has bought T1 (events 1, 2), u3 has bought T2 (3, 4) and linked a token (5).
    /// Lane 1: u2 has bought T3, which was T0 first (1, 2), and has consented (3). The last event of
    /// one of them is an order that was looked up.
    private func withAudit(
        _ body: @escaping @Sendable (TestDatabase, PostgresEventStore, Audit) async throws -> Void
    ) async throws {
        try await withPostgres { (database, loop) async throws in
            try await withPostgresStore(of: database, on: loop) { store in
                try await store.append(
                    TestBatch(head: 0).grant("T1", to: "u1").grant(
                        "T2", to: "u3", environment: .sandbox
                    ).link(token, to: "u3").batch)
                try await store.append(
                    TestBatch(lane: 1, head: 0).grant(
                        "T3", original: "T0", to: "u2", paid: 500, free: 50
                    ).consent(true, of: "u2").batch)
                let lane = Lane.of(.unclaimed, count: 2)
                try await store.append(
                    TestBatch(lane: lane, head: try await store.heads()[lane] ?? 0).order("M1")
                        .batch)
                try await body(database, store, Audit(store: store))
            }
        }
    }
}
