import CoinLedger
import EventStore

extension Audit {
    /// Compares accounts as the writer reads them, and as balances show them.
    func compareAccounts(_ fold: LaneFold, _ report: inout Report) async throws(EventStoreError) {
        var last: AccountID?
        var seen = 0
        while true {
            let page = try await store.accounts(
                in: fold.lane, after: last, limit: Audit.accountsPageSize)
            guard let end = page.last else { break }
            last = end.id
            let balances = try await store.balances(of: page.map(\.id), at: .earliest)
            for (id, kept) in page {
                report.accounts += 1
                if fold.accounts[id] != nil { seen += 1 }
                let finding = finding(id, kept, balances[id], fold)
                if let finding, try await !hasMoved(id, fold) { report.find(finding) }
            }
        }
        if seen < fold.accounts.count {
            report.find(
                "lane \(fold.lane.number): \(fold.accounts.count - seen) accounts are not kept")
        }
    }

    private func finding(
        _ id: AccountID, _ kept: Account, _ balance: AccountBalance?, _ fold: LaneFold
    ) -> String? {
        guard let folded = fold.accounts[id] else {
            return "account \(id): kept, but it has no events"
        }
        if kept != folded { return "account \(id): kept as \(kept), but its events say \(folded)" }
        let expected = folded.balance(at: .earliest)
        if balance == expected { return nil }
        return "account \(id): its balance is kept as \(text(balance)), "
            + "but its events say \(expected)"
    }

    /// Compares every lot, closed ones as well.
    func compareLots(_ fold: LaneFold, _ report: inout Report) async throws(EventStoreError) {
        var last: LotID?
        var counts: [AccountID: Int64] = [:]
        while true {
            let page = try await store.lots(in: fold.lane, after: last, limit: Audit.pageSize)
            guard let end = page.last else { break }
            last = end.id
            for kept in page where kept.grant.position <= fold.position {
                report.lots += 1
                counts[kept.account, default: 0] += 1
                let folded = fold.lots.lots[kept.id]
                guard folded != kept, try await !hasMoved(kept.account, fold) else { continue }
                report.find(
                    "lot \(kept.lot.number) of \(kept.account): kept as \(kept), "
                        + "but its events say \(text(folded))")
            }
        }
        for (id, account) in fold.accounts where counts[id, default: 0] != account.lotCount {
            report.find(
                "account \(id): \(counts[id, default: 0]) lots are kept, "
                    + "but its events opened \(account.lotCount)")
        }
    }
}
