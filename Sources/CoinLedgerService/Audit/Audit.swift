import CoinLedger
package import EventStore

/// Folds the whole log anew and compares it with everything kept beside it.
///
/// A lane's accounts and lots are held in memory while it's read: about 200 bytes for each of both.
package struct Audit: Sendable {
    let store: any EventStore

    package init(store: any EventStore) {
        self.store = store
    }

    static let pageSize = 5000
    /// With all their open lots, of which an account may have many.
    static let accountsPageSize = 500

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
            let claims = fold.takeClaims()
            try await reading("claims", of: lane, &report) { (report) throws(EventStoreError) in
                try await compare(claims, of: lane, &report)
            }
        }
        if fold.position != head {
            report.find("lane \(lane.number): head is \(head), but events end at \(fold.position)")
        }
        let next = try await store.events(in: lane, after: head, limit: 1).first
        let headNow = try await store.heads()[lane] ?? 0
        if let next, next.id.position > headNow {
            report.find("lane \(lane.number): head is \(headNow), but events go on to \(next.id)")
        }
        let whole = fold
        try await reading("remembered refunds", of: lane, &report) {
            (report) throws(EventStoreError) in
            try await compareRemembered(whole, &report)
        }
        try await reading("accounts", of: lane, &report) { (report) throws(EventStoreError) in
            try await compareAccounts(whole, &report)
        }
        try await reading("lots", of: lane, &report) { (report) throws(EventStoreError) in
            try await compareLots(whole, &report)
        }
    }

    /// What can't be read is a finding, too; the rest of the audit goes on.
    private func reading(
        _ what: String, of lane: Lane, _ report: inout Report,
        _ body: (inout Report) async throws(EventStoreError) -> Void
    ) async throws(EventStoreError) {
        do throws(EventStoreError) {
            try await body(&report)
        } catch .corrupt(let reason) {
            report.find("lane \(lane.number): \(what) can't be read: \(reason)")
        }
    }

    /// Whether an account went on after the events that were folded, so that what is kept of it
    /// is newer.
    func hasMoved(_ id: AccountID, _ fold: LaneFold) async throws(EventStoreError) -> Bool {
        let version = fold.accounts[id]?.version ?? 0
        let next = try await store.events(of: id, after: version, limit: 1, where: .all).first
        return next.map { $0.id.position > fold.position } ?? false
    }
}
