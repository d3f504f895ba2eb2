import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import Glibc
import PostgresEventStore
import Telemetry

/// A ledger with writers of the benchmark's own.
struct BenchmarkLedger: Sendable {
    let ledger: Ledger

    init(_ store: PostgresEventStore, _ loop: EventLoop) {
        let telemetry = WriterTelemetry(Metrics())
        ledger = Ledger(store: store) { lane in
            LedgerWriter(
                lane: lane, store: store, executor: loop, telemetry: telemetry, log: .none,
                pause: { await loop.sleep(milliseconds: $0) })
        }
    }

    static let policy = Consumption(order: .freeFirst, policyVersion: "bench-1")

    /// Carries out `actions` on one account, a few hundred at a time.
    func carryOut(_ actions: [Command.Action], on account: AccountID) async throws {
        let atOnce = 1000
        for start in stride(from: 0, to: actions.count, by: atOnce) {
            let commands = actions[start..<min(start + atOnce, actions.count)].map {
                Command(id: .random(), account: account, time: BenchmarkLedger.now, action: $0)
            }
            for outcome in try await ledger.submit(commands, of: account) {
                guard case .done = outcome.result else {
                    throw BenchmarkError("a command was refused: \(outcome.result)")
                }
            }
        }
    }

    static func gift(_ coins: Int64) -> Command.Action {
        guard let coins = Coins(coins) else { preconditionFailure("the number is one of coins") }
        return .give(
            Gift(
                environment: .production, coins: coins, expiresAt: nil, reason: "bench",
                campaignID: nil))
    }

    static func spend(_ coins: Int64) -> Command.Action {
        guard let coins = Coins(coins) else { preconditionFailure("the number is one of coins") }
        return .spend(
            Spend(
                environment: .production, coins: coins,
                purpose: Purpose(subject: .other("bench"), programmeID: nil, performerID: nil),
                consumption: policy))
    }

    static var now: Timestamp {
        guard let now = Timestamp(milliseconds: Int64(time(nil)) * 1000) else {
            preconditionFailure("the clock is wrong")
        }
        return now
    }
}
