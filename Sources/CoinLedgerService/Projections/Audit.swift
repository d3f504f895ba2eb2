import CoinLedger
package import EventStore

/// Folds the whole log anew and compares it with everything kept beside it.
///
/// A lane's accounts are held in memory while it's read: about 200 bytes each.
package struct Audit: Sendable {
    private let store: any EventStore & LotProjection

    package init(store: any EventStore & LotProjection) {
        self.store = store
    }

    /// What was read, and every deviation as one line.
    package struct Report: Sendable {
        package var events: Int64 = 0
        package var accounts: Int64 = 0
        package var lots: Int64 = 0
        package var findings: [String] = []
        /// More deviations than `findingsMax` are counted only.
        package var findingCount: Int64 = 0

        package static let findingsMax = 1000

        mutating func find(_ text: String) {
            findingCount += 1
            if findings.count < Report.findingsMax { findings.append(text) }
        }
    }

    private static let pageSize = 5000

    /// Reads every lane. The ledger may be in use: what is appended meanwhile isn't looked at.
    package func run() async throws(EventStoreError) -> Report {
        var report = Report()
        let heads = try await store.heads()
        for (lane, head) in heads.sorted(by: { $0.key < $1.key }) {
            try await audit(lane, upTo: head, &report)
        }
        return report
    }

    private func audit(
        _ lane: Lane, upTo head: Int64, _ report: inout Report
    ) async throws(EventStoreError) {
        var fold = LaneFold(lane: lane, laneCount: store.laneCount)
        while fold.position < head {
            let page = try await store.events(
                in: lane, after: fold.position, limit: Audit.pageSize)
            guard !page.isEmpty else { break }
            for event in page where event.id.position <= head { fold.take(event, &report) }
            if fold.position == head { break }
        }
        if fold.position != head {
            report.find("lane \(lane.number): head is \(head), but events end at \(fold.position)")
        }
        // Accounts that went on meanwhile are compared at the version they had.
        let moved = try await store.heads()[lane] != head
        try await compareAccounts(&fold, moved, &report)
        try await compareLots(&fold, &report)
    }

    private func compareAccounts(
        _ fold: inout LaneFold, _ moved: Bool, _ report: inout Report
    ) async throws(EventStoreError) {
        var last: AccountID?
        var seen = 0
        while true {
            let page = try await store.accounts(in: fold.lane, after: last, limit: Audit.pageSize)
            guard let end = page.last else { break }
            last = end.id
            for (id, kept) in page {
                report.accounts += 1
                guard let folded = fold.accounts[id] else {
                    if !moved { report.find("account \(id): kept, but it has no events") }
                    continue
                }
                seen += 1
                if kept != folded, !(moved && kept.version > folded.version) {
                    report.find("account \(id): kept as \(kept), but its events say \(folded)")
                }
            }
        }
        if seen < fold.accounts.count {
            report.find(
                "lane \(fold.lane.number): \(fold.accounts.count - seen) accounts are not kept")
        }
    }

    private func compareLots(
        _ fold: inout LaneFold, _ report: inout Report
    ) async throws(EventStoreError) {
        let checkpoint = try await store.lotCheckpoint(of: fold.lane)
        var last: (account: AccountID, number: Int64)?
        var counts: [AccountID: Int64] = [:]
        while true {
            let page = try await store.lots(in: fold.lane, after: last, limit: Audit.pageSize)
            guard let end = page.last else { break }
            last = (end.account, end.lot.number)
            for lot in page where lot.grant.position <= fold.position {
                report.lots += 1
                counts[lot.account, default: 0] += 1
                fold.compare(lot, &report)
            }
        }
        guard checkpoint >= fold.position else { return }
        for (id, account) in fold.accounts where counts[id, default: 0] != account.lotCount {
            report.find(
                "account \(id): \(counts[id, default: 0]) lots are kept, "
                    + "but its events granted \(account.lotCount)")
        }
    }
}

/// The fold of one lane's events.
private struct LaneFold {
    let lane: Lane
    private let laneCount: Int64
    private(set) var position: Int64 = 0
    private(set) var accounts: [AccountID: Account] = [:]
    private var lots: [GrantID: ProjectedLot] = [:]

    private struct GrantID: Hashable {
        let account: AccountID
        let number: Int64
    }

    init(lane: Lane, laneCount: Int64) {
        self.lane = lane
        self.laneCount = laneCount
    }

    mutating func take(_ event: StoredEvent, _ report: inout Audit.Report) {
        report.events += 1
        if event.id.position != position + 1 {
            report.find("lane \(lane.number): after \(position) comes \(event.id.position)")
        }
        position = event.id.position
        if Lane.of(event.account, count: laneCount) != lane {
            report.find("event \(event.id): account \(event.account) belongs to another lane")
        }
        do throws(EventStoreError) {
            var account = accounts[event.account] ?? .new
            account.evolve(try event.decoded())
            if event.version != account.version {
                report.find(
                    "event \(event.id): version \(event.version) of \(event.account) "
                        + "where \(account.version) is due")
            }
            accounts[event.account] = account
            for lot in try LotProjector.lots(of: event) {
                lots[GrantID(account: lot.account, number: lot.lot.number)] = lot
            }
        } catch {
            report.find("event \(event.id): \(error)")
        }
    }

    func compare(_ kept: ProjectedLot, _ report: inout Audit.Report) {
        let folded = lots[GrantID(account: kept.account, number: kept.lot.number)]
        if folded != kept {
            report.find(
                "lot \(kept.lot.number) of \(kept.account): kept as \(kept), "
                    + "but its events say \(folded.map { "\($0)" } ?? "nothing")")
        }
    }
}
