import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import Postgres
import PostgresEventStore
import Telemetry

/// What a spend costs an account that has seen much, and how long its past takes to read.
final class LargeAccountBenchmark {
    private let bench: Workbench
    private var isPrepared = false

    private static let lots = 10_000
    private static let events = 1_000_000
    private static let spends = 1000
    /// How far back a balance in the past is asked for.
    private static let pastVersion: Int64 = 1000

    private enum Kind: String, CaseIterable, Sendable {
        case fresh
        case manyLots = "10k_lots"
        case manyEvents = "1m_events"
    }

    init(_ bench: Workbench) { self.bench = bench }

    func run() throws -> [Figure] {
        let configuration = try PostgresConfiguration(bench.connectionString("append"))
        let loop = bench.loop
        let mustPrepare = !isPrepared
        isPrepared = true
        return try bench.onLoop {
            let store = try await PostgresEventStore.open(configuration, on: loop, log: .none)
            defer { store.close() }
            let ledger = BenchmarkLedger(store, loop)
            if mustPrepare { try await LargeAccountBenchmark.prepare(ledger) }
            var figures: [Figure] = []
            for kind in Kind.allCases {
                let account = try LargeAccountBenchmark.account(kind)
                let begun = ContinuousClock.now
                for _ in 0..<LargeAccountBenchmark.spends {
                    try await ledger.carryOut([BenchmarkLedger.spend(1)], on: account)
                }
                let micros =
                    (ContinuousClock.now - begun) / .microseconds(LargeAccountBenchmark.spends)
                figures.append(Figure("spend.\(kind.rawValue)", micros, "µs"))
            }
            for kind in [Kind.fresh, .manyEvents] {
                figures.append(try await LargeAccountBenchmark.past(kind, store))
            }
            return figures
        }
    }

    private static func account(_ kind: Kind) throws -> AccountID {
        guard let account = AccountID("large-\(kind.rawValue)") else {
            throw BenchmarkError("\(kind) makes no account id")
        }
        return account
    }

    private static func prepare(_ ledger: BenchmarkLedger) async throws {
        let plenty: Int64 = 1_000_000_000
        try await ledger.carryOut([BenchmarkLedger.gift(plenty)], on: account(.fresh))
        // So that a past is there to read in the fresh one, too.
        try await ledger.carryOut(
            Array(repeating: BenchmarkLedger.spend(1), count: Int(pastVersion)),
            on: account(.fresh))
        try await ledger.carryOut(
            Array(repeating: BenchmarkLedger.gift(1000), count: lots), on: account(.manyLots))
        try await ledger.carryOut([BenchmarkLedger.gift(plenty)], on: account(.manyEvents))
        try await ledger.carryOut(
            Array(repeating: BenchmarkLedger.spend(1), count: events), on: account(.manyEvents))
    }

    /// The time that a balance as of an early event takes.
    private static func past(_ kind: Kind, _ store: PostgresEventStore) async throws -> Figure {
        let account = try account(kind)
        let found = try await store.events(
            of: account, after: pastVersion - 1, limit: 1, where: .all)
        guard let event = found.first else { throw BenchmarkError("\(account) has no past") }
        let history = AccountHistory(store: store)
        let begun = ContinuousClock.now
        for _ in 0..<100 { _ = try await history.state(of: account, upTo: .event(event.id)) }
        let micros = (ContinuousClock.now - begun) / .microseconds(100)
        return Figure("past.\(kind.rawValue)", micros, "µs")
    }
}
