import Base
import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import Glibc
import Postgres
import PostgresEventStore
import Telemetry

/// The append path without HTTP: decide and commit durably, the lanes' queues never empty.
struct AppendBenchmark {
    private let bench: Workbench

    /// Commands under way at one time in each lane: four times what a batch takes, so that others are
    /// there while two batches are under way.
    private static let commandsInFlight = 1024
    static let accountCount: Int64 = 100_000

    enum Distribution: String, Sendable { case uniform, hot }

    init(_ bench: Workbench) { self.bench = bench }

    func run(_ distribution: Distribution) throws -> [Figure] {
        let configuration = try PostgresConfiguration(bench.connectionString("append"))
        let loop = bench.loop
        let seconds = Double(bench.options.seconds)
        let rate = try bench.onLoop {
            let store = try await PostgresEventStore.open(configuration, on: loop, log: .none)
            defer { store.close() }
            let run = AppendRun(store, loop, distribution)
            return await run.commandsPerSecond(seconds)
        }
        // Two events a purchase.
        return [
            Figure("append.\(distribution.rawValue)", rate * 2, "events/s"),
            Figure("append.\(distribution.rawValue).commands", rate, "commands/s"),
        ]
    }

    /// One run: tasks that each submit a purchase, wait until it's durable, and go on.
    private struct AppendRun: Sendable {
        private let loop: EventLoop
        private let ledger: Ledger
        private let distribution: Distribution
        private let state: Lock<State>

        private struct State {
            var purchases: BenchmarkPurchases
            var done = 0
            var isOver = false
        }

        init(_ store: PostgresEventStore, _ loop: EventLoop, _ distribution: Distribution) {
            self.loop = loop
            self.distribution = distribution
            ledger = BenchmarkLedger(store, loop).ledger
            state = Lock(State(purchases: BenchmarkPurchases(firstID: Int64(time(nil)) << 24)))
        }

        func commandsPerSecond(_ seconds: Double) async -> Double {
            let tasks = (0..<AppendBenchmark.commandsInFlight * Int(Workbench.appendLanes)).map {
                _ in
                loop.task { await self.submitUntilOver() }
            }
            await loop.sleep(milliseconds: 1000)
            let begun = ContinuousClock.now
            let before = state.withLock { $0.done }
            await loop.sleep(milliseconds: Int64(seconds * 1000))
            let done = state.withLock { $0.done } - before
            let elapsed = (ContinuousClock.now - begun) / .seconds(1)
            state.withLock { $0.isOver = true }
            for task in tasks { await task.value }
            return Double(done) / elapsed
        }

        private func submitUntilOver() async {
            while let command = next() {
                do throws(WriterError) {
                    let outcomes = try await ledger.submit([command], of: command.account)
                    guard case .done = outcomes.first?.result else {
                        preconditionFailure("a new purchase wasn't granted")
                    }
                } catch {
                    preconditionFailure("the writer refused: \(error)")
                }
                state.withLock { $0.done += 1 }
            }
        }

        private func next() -> Command? {
            state.withLock { state in
                if state.isOver { return nil }
                let number =
                    distribution == .hot
                    ? 0 : state.purchases.accountNumber(of: AppendBenchmark.accountCount)
                guard let account = AccountID("account-\(number)"),
                    let now = Timestamp(milliseconds: Int64(time(nil)) * 1000)
                else { preconditionFailure("a number makes an account id") }
                return state.purchases.next(for: account, at: now)
            }
        }
    }
}
