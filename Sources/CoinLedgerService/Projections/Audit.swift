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
                in: lane, after: fold.position, limit: Audit.pageSize
            ).prefix { $0.id.position <= head }
            guard !page.isEmpty else { break }
            for event in page { fold.take(event, &report) }
            try await compare(fold.takeClaims(), of: lane, &report)
        }
        if fold.position != head {
            report.find("lane \(lane.number): head is \(head), but events end at \(fold.position)")
        }
        let next = try await store.events(in: lane, after: head, limit: 1).first
        let headNow = try await store.heads()[lane] ?? 0
        if let next, next.id.position > headNow {
            report.find("lane \(lane.number): head is \(headNow), but events go on to \(next.id)")
        }
        // Accounts that went on meanwhile are compared at the version they had.
        let moved = headNow != head
        try await compareAccounts(&fold, moved, &report)
        try await compareLots(&fold, &report)
    }

    /// Compares what events claimed with the claims that are kept.
    private func compare(
        _ claims: LaneFold.Claims, of lane: Lane, _ report: inout Report
    ) async throws(EventStoreError) {
        let request = LoadRequest(
            lane: lane, accounts: [], purchases: claims.purchases.map(\.key),
            tokens: claims.tokens.map(\.token))
        let kept: Facts
        do throws(EventStoreError) {
            kept = try await store.load(request).facts
        } catch .corrupt(let reason) {
            report.find("lane \(lane.number): claims can't be read: \(reason)")
            return
        }
        for (key, claim) in claims.purchases where kept.claims[key] != claim {
            let found = kept.claims[key].map { "\($0)" } ?? "nothing"
            report.find(
                "event \(claim.grant): its claim on \(key.transactionID) is kept as \(found)")
        }
        for (token, account, id) in claims.tokens where kept.tokenOwners[token] != account {
            let found = kept.tokenOwners[token].map { "\($0)" } ?? "nothing"
            report.find("event \(id): its link of \(token) is kept as \(found)")
        }
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
