import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import InMemoryEventStore
import LedgerTestSupport
import Postgres
import PostgresEventStore
import Telemetry
import TestSupport
import Testing

// Lanes of the accounts in these tests, of two: u1 and u3 are in lane 0, u2 and u4 in lane 1.

/// Which implementation of the store a test runs against.
enum StoreKind: CaseIterable, CustomTestStringConvertible {
    case inMemory, postgres

    var testDescription: String { self == .inMemory ? "in memory" : "PostgreSQL" }

    /// Runs `body` on an event loop with an empty store of two lanes.
    func withStore(
        _ body: @escaping @Sendable (any EventStore, EventLoop) async throws -> Void
    ) async throws {
        switch self {
        case .inMemory:
            try await onLoop { (loop) async throws in
                try await body(InMemoryEventStore(laneCount: 2), loop)
            }
        case .postgres:
            try await withPostgres { (database, loop) async throws in
                try await withPostgresStore(of: database, on: loop) { try await body($0, loop) }
            }
        }
    }
}

private let databases = Gate(6)

/// Runs `body` on an event loop with a database that holds an empty ledger of two lanes.
func withPostgres(
    _ body: @escaping @Sendable (TestDatabase, EventLoop) async throws -> Void
) async throws {
    try await databases.pass {
        let database = try TestDatabase.ledger()
        try await onLoop { loop in try await body(database, loop) }
    }
}

/// Runs `body` with a store that acts as the service does: in the role of the writer.
func withPostgresStore<Value: Sendable>(
    of database: TestDatabase, on loop: EventLoop, through proxy: CuttingProxy? = nil,
    _ body: (PostgresEventStore) async throws -> Value
) async throws -> Value {
    var connectionString = database.connectionString(in: "coinledger_writer")
    if let proxy {
        connectionString = ConnectionString.adding("host", proxy.folder.path, to: connectionString)
        connectionString = ConnectionString.adding("port", "5432", to: connectionString)
    }
    let configuration = try PostgresConfiguration(connectionString)
    let store = try await PostgresEventStore.open(configuration, on: loop, log: .none)
    defer { store.close() }
    return try await body(store)
}

extension WriterLimits {
    /// The usual ones, but without long waits.
    static var quick: WriterLimits {
        var limits = WriterLimits()
        limits.unknownResultPauseMilliseconds = 5
        return limits
    }
}

extension LedgerWriter {
    init(
        _ lane: Lane, _ store: any EventStore, _ loop: EventLoop, _ limits: WriterLimits = .quick
    ) {
        self.init(
            lane: lane, store: store, limits: limits, executor: loop,
            telemetry: WriterTelemetry(Metrics()), log: .none,
            pause: { await loop.sleep(milliseconds: $0) })
    }
}

extension Ledger {
    init(_ store: any EventStore, _ loop: EventLoop, _ limits: WriterLimits = .quick) {
        self.init(store: store) { LedgerWriter($0, store, loop, limits) }
    }

    func submit(_ command: Command) async throws -> Outcome {
        try #require(try await submit([command], of: command.account).first)
    }
}

extension LedgerWriter {
    func submit(_ command: Command) async throws -> Outcome {
        try #require(try await submit([command]).first)
    }
}

extension Outcome {
    /// Whether the command itself was carried out, be it by an attempt whose answer was lost.
    var isDone: Bool {
        switch result {
        case .done, .rejected(.alreadyDone): true
        case .rejected: false
        }
    }

    var events: [EventID]? {
        if case .done(let events) = result { events.map(\.id) } else { nil }
    }

    var rejection: Rejection? {
        if case .rejected(let rejection) = result { rejection } else { nil }
    }
}

/// Lets every task that's ready on the caller's loop run until it has to wait.
///
/// The loop has one thread and runs ready tasks in turn, so that a task that has yielded more
/// often than they have steps to take comes after them.
func settle() async {
    for _ in 0..<100 { await Task.yield() }
}

/// What a store operation threw, or nil.
func storeFailure(
    _ body: () async throws(EventStoreError) -> Void
) async -> EventStoreError? {
    do throws(EventStoreError) {
        try await body()
        return nil
    } catch {
        return error
    }
}

/// What a writer threw, or nil.
func writerFailure(_ body: () async throws -> Void) async throws -> WriterError? {
    do {
        try await body()
        return nil
    } catch let error as WriterError {
        return error
    }
}
