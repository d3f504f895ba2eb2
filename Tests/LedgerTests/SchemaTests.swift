import CoinLedger
import EventLoop
import EventStore
import LedgerTestSupport
import Postgres
import PostgresEventStore
import Telemetry
import TestSupport
import Testing

/// What PostgreSQL itself refuses, whoever asks.
@Suite struct `The schema` {
    private static let roles = [nil, "coinledger_owner", "coinledger_writer", "coinledger_reader"]

    @Test func `lets nobody change or remove an event`() async throws {
        try await withPostgres { (database, loop) async throws in
            try await withPostgresStore(of: database, on: loop) { store in
                try await store.append(TestBatch(head: 0).grant("T1", to: "u1").batch)
            }
            let changes = [
                "UPDATE coinledger.events SET payload = '{}'", "DELETE FROM coinledger.events",
                "TRUNCATE coinledger.events", "TRUNCATE coinledger.events CASCADE",
                "SET session_replication_role = replica; DELETE FROM coinledger.events",
            ]
            for change in changes {
                // nil is the superuser.
                #expect(sqlState(of: change, in: database) == "CL003", "\(change)")
            }
            for role in Self.roles {
                for change in changes.prefix(3) {
                    let code = sqlState(of: change, by: role, in: database)
                    let isOwner = role == nil || role == "coinledger_owner"
                    #expect(code == (isOwner ? "CL003" : "42501"), "\(change) by \(role ?? "")")
                }
            }
            #expect(try database.run("SELECT count(*) FROM coinledger.events") == [["2"]])
        }
    }

    @Test(arguments: ["coinledger_writer", "coinledger_reader"])
    func `lets a role write to no table`(role: String) async throws {
        try await withPostgres { (database, _) async throws in
            let tables = try database.run(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'coinledger'")
            #expect(tables.count == 13)
            for table in tables.compactMap(\.first).compactMap(\.self) {
                for change in [
                    "INSERT INTO coinledger.\(table) DEFAULT VALUES",
                    "DELETE FROM coinledger.\(table)", "TRUNCATE coinledger.\(table)",
                    "DROP TABLE coinledger.\(table)",
                ] {
                    let code = sqlState(of: change, by: role, in: database)
                    #expect(code == "42501", "\(change)")
                }
            }
            for change in [
                "UPDATE coinledger.accounts SET paid = 1000000",
                "UPDATE coinledger.lanes SET position = 0", "CREATE TABLE coinledger.x ()",
                "SELECT coinledger.create_lanes(9)",
                "ALTER TABLE coinledger.events DISABLE TRIGGER ALL",
            ] {
                #expect(sqlState(of: change, by: role, in: database) == "42501", "\(change)")
            }
        }
    }

    @Test func `lets a reader see the ledger and no keys`() async throws {
        try await withPostgres { (database, loop) async throws in
            try await withPostgresStore(of: database, on: loop) { store in
                try await store.append(TestBatch(head: 0).link(token, to: "u1").batch)
            }
            let reader = "coinledger_reader"
            #expect(
                try database.run(
                    "SELECT payload ->> 'appAccountToken' FROM coinledger.events_as_json",
                    as: reader) == [[token.text]])
            #expect(
                try database.run("SELECT account, version FROM coinledger.accounts", as: reader)
                    == [["u1", "1"]])
            for forbidden in [
                "SELECT id FROM coinledger.api_keys",
                "SELECT coinledger.revoke_api_key('x', now())",
                "SELECT coinledger.forget_answers(now(), 1)",
                "SELECT coinledger.forget_purchase_attempts(now(), 1)",
                """
                SELECT coinledger.record_purchase_attempts(
                    'u1', false, '', NULL, now(), 1, '{}', '{}', '{}', '{}', '{}', '{}')
                """,
            ] {
                #expect(
                    sqlState(of: forbidden, by: reader, in: database) == "42501",
                    "\(forbidden)")
            }
        }
    }

    @Test func `tells an account that isn't at the version it was decided from`() async throws {
        try await withPostgres { (database, loop) async throws in
            try await withPostgresStore(of: database, on: loop) { store in
                let first = TestBatch(head: 0).grant("T1", to: "u1")
                try await store.append(first.batch)
                try database.run("UPDATE coinledger.accounts SET version = 3")
                let failure = await storeFailure { () throws(EventStoreError) in
                    try await store.append(first.next.grant("T2", to: "u1").batch)
                }
                guard case .corrupt = failure else {
                    Issue.record("unexpected: \(String(describing: failure))")
                    return
                }
                #expect(try await store.heads() == [0: 2, 1: 0])
            }
        }
    }

    @Test func `tells a lot that isn't there`() async throws {
        try await withPostgres { (database, loop) async throws in
            try await withPostgresStore(of: database, on: loop) { store in
                let first = TestBatch(head: 0).give(5, to: "u1").spend([.free(1, 5)], of: "u1")
                try await store.append(first.batch)
                try database.run("UPDATE coinledger.older_lots SET number = 2")
                let lot = try #require(first.lot(1, of: "u1"))
                let reversed = first.next.reverse(
                    first.lastEvent, returning: [Slice.free(1, 5).returned(to: lot)], of: "u1")
                let failure = await storeFailure { () throws(EventStoreError) in
                    try await store.append(reversed.batch)
                }
                guard case .corrupt = failure else {
                    Issue.record("unexpected: \(String(describing: failure))")
                    return
                }
                #expect(try await store.heads() == [0: 2, 1: 0])
            }
        }
    }

    /// A row that stays on its page costs no index anything. What the last draw changes is the
    /// earliest expiry of the account.
    @Test func `draws from a lot in its account's row, until that is used up`() async throws {
        try await expectUpdates(
            [["accounts", "9", "8"], ["older_lots", "0", "0"]], spending: 1,
            after: TestBatch(head: 0).give(9, to: "u1", expiresAt: "2026-12-01T00:00:00Z"))
    }

    @Test func `draws from an older lot on its page, until that is used up`() async throws {
        var batch = TestBatch(head: 0).give(9, to: "u1")
        for _ in 0..<15 { batch = batch.give(1, to: "u1") }
        try await expectUpdates(
            [["accounts", "9", "9"], ["older_lots", "9", "8"]], spending: 1, after: batch)
    }

    /// Expects of each table how many rows were updated, and how many of these stayed on their page.
    private func expectUpdates(
        _ expected: [[String]], spending lot: Int64, after first: TestBatch
    ) async throws {
        try await withPostgres { (database, loop) async throws in
            try await withPostgresStore(of: database, on: loop) { store in
                var batch = first
                try await store.append(batch.batch)
                for _ in 0..<9 {
                    batch = batch.next.spend([.free(lot, 1)], of: "u1")
                    try await store.append(batch.batch)
                }
            }
            // The store's sessions tell what they did when they end.
            var updates: [[String?]] = []
            for _ in 0..<500 where updates != expected {
                updates = try database.run(
                    """
                    SELECT relname, n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables
                    WHERE relname IN ('accounts', 'older_lots') ORDER BY relname
                    """)
                if updates != expected { await loop.sleep(milliseconds: 10) }
            }
            #expect(updates == expected)
        }
    }

    /// In both places, with all that a lot may have.
    @Test func `shows lots as the store reads them`() async throws {
        try await withPostgres { (database, loop) async throws in
            try await withPostgresStore(of: database, on: loop) { store in
                var batch = TestBatch(head: 0).grant(
                    "T1", to: "u1", paid: 120, free: 30, price: TestBatch.price,
                    freeExpiresAt: "2026-12-01T00:00:00.001Z"
                ).grant(
                    "T2", to: "u1", price: StatedPrice(milliunits: .max, currency: "\u{A4}"),
                    environment: .sandbox)
                for number in 0..<13 { batch = batch.give(9, to: "u1", campaign: "c\(number)") }
                batch = batch.spend([.free(4, 9), .paid(1, 50, value: 66_666)], of: "u1")
                try await store.append(batch.batch)
                let lots = try await store.lots(of: "u1")
                #expect(lots.count == 16)
                #expect(
                    try database.run("SELECT count(*) FROM coinledger.older_lots") == [["8"]])
                let shown = try database.run(
                    """
                    SELECT number, lane || '-' || position, environment, kind, coins, remaining,
                        value_out, price_milliunits, currency, source, transaction_id, campaign_id,
                        is_open, to_char(expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
                    FROM coinledger.lots WHERE account = 'u1' ORDER BY number
                    """)
                let read = lots.map { stored -> [String?] in
                    let (lot, rest) = (stored.lot, stored.rest)
                    var origin: [String?] = ["support", nil, nil]
                    switch stored.source {
                    case .purchase(let key): origin = ["purchase", key.transactionID.text, nil]
                    case .gift(let campaign): origin = ["gift", nil, campaign]
                    case .support: break
                    }
                    return [
                        "\(lot.number)", "\(stored.grant)", stored.environment.rawValue,
                        lot.kind.rawValue, "\(lot.coins.amount)", "\(rest.remaining.amount)",
                        "\(rest.valueOut)", lot.price.map { "\($0.milliunits)" },
                        lot.price?.currency,
                    ] + origin + [stored.isOpen ? "t" : "f", lot.expiresAt?.description]
                }
                #expect(shown == read)
            }
        }
    }
}

@Suite struct `A migration` {
    @Test func `is taken once, and keeps the number of lanes`() async throws {
        try await onLoop { (loop) async throws in
            let database = try TestDatabase.create()
            let migrator = try migrator(database, loop)
            let first = try await migrator.migrate(laneCount: 3)
            #expect(first.applied == ["ledger"])
            #expect(first.laneCount == 3)
            let second = try await migrator.migrate(laneCount: 8)
            #expect(second.applied == [])
            #expect(second.laneCount == 3)
            #expect(
                try database.run("SELECT lane, position FROM coinledger.lanes ORDER BY lane")
                    == [["0", "0"], ["1", "0"], ["2", "0"]])
            try await withPostgresStore(of: database, on: loop) { #expect($0.laneCount == 3) }
        }
    }

    @Test func `is taken by one of several that begin at once`() async throws {
        try await onLoop { (loop) async throws in
            let database = try TestDatabase.create()
            let migrator = try migrator(database, loop)
            let results = try await withThrowingTaskGroup(of: Migrator.Result.self) { group in
                for _ in 0..<4 { group.addTask { try await migrator.migrate(laneCount: 2) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(
                results.map(\.applied).sorted { $0.count > $1.count } == [["ledger"], [], [], []])
            #expect(results.map(\.laneCount) == [2, 2, 2, 2])
        }
    }

    @Test func `may run in several databases at once, whose roles are the same`() async throws {
        try await onLoop { (loop) async throws in
            let databases = try (0..<3).map { _ in try TestDatabase.create() }
            let results = try await withThrowingTaskGroup(of: Migrator.Result.self) { group in
                for database in databases {
                    let migrator = try migrator(database, loop)
                    group.addTask { try await migrator.migrate(laneCount: 2) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.map(\.applied) == [["ledger"], ["ledger"], ["ledger"]])
        }
    }

    @Test func `that was edited after it was taken is refused`() async throws {
        try await withPostgres { (database, loop) async throws in
            try database.run(
                "UPDATE coinledger.schema_migrations SET sha256 = repeat('0', 64)")
            let migrator = try migrator(database, loop)
            let failure = await storeFailure { () throws(EventStoreError) in
                _ = try await migrator.migrate(laneCount: 2)
            }
            guard case .corrupt(let reason) = failure else {
                Issue.record("unexpected: \(String(describing: failure))")
                return
            }
            #expect(reason.contains("migration 1 was edited"))
        }
    }

    @Test(arguments: [0, -1, 1025, .max] as [Int64])
    func `refuses a number of lanes that can't be`(count: Int64) async throws {
        try await onLoop { (loop) async throws in
            let database = try TestDatabase.create()
            let migrator = try migrator(database, loop)
            let failure = await storeFailure { () throws(EventStoreError) in
                _ = try await migrator.migrate(laneCount: count)
            }
            #expect(failure != nil)
            #expect(try await migrator.migrate(laneCount: 1).laneCount == 1)
        }
    }

    @Test func `has to come before a store is opened`() async throws {
        try await onLoop { (loop) async throws in
            let database = try TestDatabase.create()
            let configuration = try PostgresConfiguration(database.connectionString)
            let failure = await storeFailure { () throws(EventStoreError) in
                _ = try await PostgresEventStore.open(configuration, on: loop, log: .none)
            }
            guard case .unavailable = failure else {
                Issue.record("unexpected: \(String(describing: failure))")
                return
            }
            // It has closed what it had opened.
            var connections: [[String?]]?
            for _ in 0..<500 where connections != [["0"]] {
                connections = try database.run(
                    """
                    SELECT count(*) FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid()
                    """)
                if connections != [["0"]] { await loop.sleep(milliseconds: 2) }
            }
            #expect(connections == [["0"]])
        }
    }

    private func migrator(_ database: TestDatabase, _ loop: EventLoop) throws -> Migrator {
        Migrator(try PostgresConfiguration(database.connectionString), on: loop)
    }
}

/// The SQLSTATE with which a script was refused, or nil if it wasn't.
private func sqlState(
    of sql: String, by role: String? = nil, in database: TestDatabase
) -> String? {
    do throws(TestDatabaseError) {
        try database.run(sql, as: role)
        return nil
    } catch {
        return error.sqlState ?? error.description
    }
}
