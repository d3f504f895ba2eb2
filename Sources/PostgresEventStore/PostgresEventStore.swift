import Base
package import CoinLedger
package import EventLoop
package import EventStore
package import Postgres
package import Telemetry

/// The ledger in PostgreSQL, through the functions and tables of `db/`.
///
/// Each lane's writer has a connection of its own, quick reads share a few, the queue of
/// notifications has its own, and what reads whole lanes has one more, so that nobody who waits for a
/// balance waits for those. Everything is called
/// from tasks of the event loop that was given.
package struct PostgresEventStore: EventStore {
    package let laneCount: Int64
    private let appendTypes: AppendTypes
    private let writers: [PostgresClient]
    let readers: PostgresClient
    /// For projections and audits.
    let background: PostgresClient
    /// For the queue of notifications, whose commits nobody else shall wait for.
    let notifications: PostgresClient

    package static let readerConnections = 2
    /// Commits of one connection follow each other; those of several share the disk's time.
    package static let notificationConnections = 2

    /// Connects, and reads how many lanes the ledger has.
    ///
    /// - Throws: `.unavailable` if the database can't be reached or isn't migrated.
    package static func open(
        _ configuration: PostgresConfiguration, on loop: EventLoop, log: Log
    ) async throws(EventStoreError) -> PostgresEventStore {
        var configuration = configuration
        // A plan made for this very array of keys would cost more than it saves, and one made on
        // a young, empty table must be right when it's large: look-ups by key.
        configuration.settings += [
            ("plan_cache_mode", "force_generic_plan"), ("enable_seqscan", "off"),
            ("enable_bitmapscan", "off"), ("enable_hashjoin", "off"), ("enable_mergejoin", "off"),
            ("enable_sort", "off"),
            // What's switched off is avoided at any price, for which the server would compile a
            // query before running it.
            ("jit", "off"),
        ]
        let readers = PostgresClient(
            configuration, connections: readerConnections, on: loop, log: log)
        let laneCount: Int64
        let appendTypes: AppendTypes
        do throws(EventStoreError) {
            (laneCount, appendTypes) = try await PostgresEventStore.ledger(readers)
        } catch {
            readers.close()
            throw error
        }
        let writers = (0..<laneCount).map { _ in
            PostgresClient(configuration, isPrompt: true, on: loop, log: log)
        }
        let background = PostgresClient(configuration, connections: 1, on: loop, log: log)
        let notifications = PostgresClient(
            configuration, connections: notificationConnections, on: loop, log: log)
        return PostgresEventStore(
            laneCount: laneCount, appendTypes: appendTypes, writers: writers, readers: readers,
            background: background, notifications: notifications)
    }

    /// Whoever changes the ledger under a running service, such as by restoring a dump, has to start
    /// the service anew: neither of the two is read again.
    private static func ledger(
        _ readers: PostgresClient
    ) async throws(EventStoreError) -> (laneCount: Int64, appendTypes: AppendTypes) {
        let (count, types) = try await reading {
            () throws(PostgresError) -> (Int64, AppendTypes) in
            let rows = try await readers.execute(Statements.ledger)
            return (try rows.int8(0, 0), try AppendTypes(rows, from: 1))
        }
        guard count > 0 else { throw .unavailable("the ledger has no lanes; migrate it first") }
        return (count, types)
    }

    /// Closes every connection.
    package func close() {
        for client in writers + [readers, background, notifications] { client.close() }
    }

    /// Whether the database answers and takes writes.
    package func isWritable() async -> Bool {
        do throws(PostgresError) {
            return try await !readers.execute(Statements.isReadOnly).bool(0, 0)
        } catch {
            return false
        }
    }

    package func load(_ request: LoadRequest) async throws(EventStoreError) -> Loaded {
        let reads = LoadReads(request)
        return try await reading { () throws(PostgresError) -> Loaded in
            try reads.loaded(try await writer(of: request.lane).read(reads.queries))
        }
    }

    package func states(
        of ids: [AccountID], withLots: Bool
    ) async throws(EventStoreError) -> [AccountID: Account] {
        let reads = withLots ? StateReads(ids, withoutLots: []) : StateReads([], withoutLots: ids)
        return try await reading { () throws(PostgresError) -> [AccountID: Account] in
            try reads.states(try await readers.read(reads.queries))
        }
    }

    package func append(_ batch: consuming Batch) async throws(EventStoreError) {
        let writer = writer(of: batch.lane)
        // Consumes the batch: whoever waits for this may go on changing the states in it.
        let parameters = AppendParameters(batch, appendTypes).values
        do throws(PostgresError) {
            _ = try await writer.execute(Statements.append, parameters)
        } catch {
            throw error.appendError
        }
    }

    package func takeTurn(in lane: Lane) async throws(EventStoreError) {
        try await reading { () throws(PostgresError) in
            _ = try await writer(of: lane).execute(Statements.takeTurn, [.int8(lane.number)])
        }
    }

    package func endTurn(in lane: Lane) async throws(EventStoreError) {
        try await reading { () throws(PostgresError) in
            _ = try await writer(of: lane).execute(Statements.endTurn, [.int8(lane.number)])
        }
    }

    package func heads() async throws(EventStoreError) -> [Lane: Int64] {
        try await reading { () throws(PostgresError) -> [Lane: Int64] in
            let rows = try await background.read([(Statements.heads, [])])[0]
            var heads: [Lane: Int64] = [:]
            for row in 0..<rows.count { heads[try rows.lane(row, 0)] = try rows.int8(row, 1) }
            return heads
        }
    }

    package func claims(
        on keys: [PurchaseKey]
    ) async throws(EventStoreError) -> PurchaseClaims {
        try await reading { () throws(PostgresError) -> PurchaseClaims in
            let query = (
                Statements.claims, [PostgresValue.textArray(keys.map(\.transactionID.text))]
            )
            return try ClaimRows(try await readers.read([query])[0]).claims()
        }
    }

    package func forgetAnswers(
        recordedBefore time: Timestamp, limit: Int
    ) async throws(EventStoreError) -> Int {
        try await reading { () throws(PostgresError) -> Int in
            let rows = try await background.execute(
                Statements.forgetAnswers,
                [.timestamptz(milliseconds: time.milliseconds), .int8(Int64(limit))])
            return Int(try rows.int8(0, 0))
        }
    }

    private func writer(of lane: Lane) -> PostgresClient { writers[Int(lane.number)] }
}

/// Runs `body` and words its failure as the store's.
func reading<Value>(
    _ body: () async throws(PostgresError) -> Value
) async throws(EventStoreError) -> Value {
    do throws(PostgresError) {
        return try await body()
    } catch {
        throw error.storeError
    }
}
