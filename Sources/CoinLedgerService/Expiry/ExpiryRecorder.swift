package import CoinLedger
import EventStore
package import Telemetry

/// Records that coins have expired, once for each lot. Nothing depends on it: coins whose time is
/// over can't be spent anyway.
package struct ExpiryRecorder: Sendable {
    private let ledger: Ledger
    private let clock: @Sendable () -> Timestamp
    private let log: Log

    /// Accounts that are looked for and submitted at once.
    private static let accountsAtOnce = 256

    package init(ledger: Ledger, clock: @escaping @Sendable () -> Timestamp, log: Log) {
        self.ledger = ledger
        self.clock = clock
        self.log = log
    }

    package struct Report: Hashable, Sendable {
        package var accounts: Int64 = 0
        package var lots: Int64 = 0
        package var coins = Coins.zero

        package init() {}
    }

    /// Records everything that has expired by now.
    ///
    /// - Throws: `.unavailable` if the ledger can't be used; what was recorded stays.
    package func run() async throws(WriterError) -> Report {
        let now = clock()
        var report = Report()
        for number in 0..<ledger.store.laneCount {
            guard let lane = Lane(number) else { continue }
            // Each round records what it finds, so that the next one finds something else. Held coins
            // wait for their hold: an account that has only those ends the lane.
            while try await round(lane, now, &report) {}
        }
        if report.lots > 0 {
            log.info("coins expired", ["lots": report.lots, "coins": report.coins.amount])
        }
        return report
    }

    /// False when nothing was recorded.
    private func round(
        _ lane: Lane, _ now: Timestamp, _ report: inout Report
    ) async throws(WriterError) -> Bool {
        let accounts: [AccountID]
        do throws(EventStoreError) {
            accounts = try await ledger.store.accountsWithExpiredLots(
                in: lane, at: now, limit: ExpiryRecorder.accountsAtOnce)
        } catch {
            throw .unavailable
        }
        var isAnyRecorded = false
        for account in accounts {
            let command = Command(
                id: .random(), account: account, time: now, action: .expireCoins)
            guard let outcome = try await ledger.submit([command], of: account).first,
                case .done(let events) = outcome.result
            else { continue }
            isAnyRecorded = true
            report.accounts += 1
            for recorded in events {
                guard case .coinsExpired(let expired) = recorded.event else { continue }
                report.lots += Int64(expired.slices.count)
                report.coins = [report.coins, expired.slices.map(\.coins).sum()].sum()
            }
        }
        return isAnyRecorded
    }
}
