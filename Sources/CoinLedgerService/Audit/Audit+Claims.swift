import CoinLedger
import EventStore

extension Audit {
    /// Compares what events claimed with the claims that are kept.
    func compare(
        _ claims: ClaimFold.Claims, of lane: Lane, _ report: inout Report
    ) async throws(EventStoreError) {
        var request = LoadRequest(lane: lane)
        request.purchases = claims.purchases.map(\.key)
        request.tokens = claims.tokens.map(\.token)
        request.spends = claims.reversals.map(\.spend)
        request.orders = claims.orders.map(\.order)
        let kept = try await store.load(request).facts
        for (key, claim) in claims.purchases where kept.claims[key] != claim {
            report.find(
                "event \(claim.grant): its claim on \(key.transactionID) is kept as "
                    + text(kept.claims[key]))
        }
        for (token, account, id) in claims.tokens where kept.tokenOwners[token] != account {
            report.find(
                "event \(id): its link of \(token) is kept as \(text(kept.tokenOwners[token]))")
        }
        for (spend, id) in claims.reversals where kept.reversals[spend] != id {
            report.find(
                "event \(id): its reversal of \(spend) is kept as \(text(kept.reversals[spend]))")
        }
        for (order, id) in claims.orders where kept.orders[order] != id {
            report.find("event \(id): its order \(order) is kept as \(text(kept.orders[order]))")
        }
    }

    /// Compares the last word on each purchase that nobody had with what is kept: that word, a later
    /// one, or a grant that knew it.
    func compareRemembered(
        _ fold: LaneFold, _ report: inout Report
    ) async throws(EventStoreError) {
        var rest = Array(fold.claims.remembered)[...]
        while !rest.isEmpty {
            let page = rest.prefix(Audit.pageSize)
            rest = rest.dropFirst(page.count)
            let kept = try await store.claims(on: page.map(\.key))
            for (key, id) in page {
                if let word = kept.remembered[key]?.event {
                    if word == id || (word.lane == id.lane && word.position > fold.position) {
                        continue
                    }
                    report.find(remembered(key, by: id, text(word)))
                } else if let claim = kept.granted[key] {
                    guard try await !isGranted(key, by: claim.grant) else { continue }
                    report.find(remembered(key, by: id, text(claim)))
                } else {
                    report.find(remembered(key, by: id, "nothing"))
                }
            }
        }
    }

    /// Whether that event grants the purchase, known by this key or first known by it.
    private func isGranted(
        _ key: PurchaseKey, by grant: EventID
    ) async throws(EventStoreError) -> Bool {
        let events = try await store.events(in: grant.lane, after: grant.position - 2, limit: 2)
        guard let stored = events.first, case .purchaseRecorded(let recorded) = try stored.decoded()
        else { return false }
        return recorded.purchase.claimedKeys.contains(key)
    }

    private func remembered(_ key: PurchaseKey, by id: EventID, _ kept: String) -> String {
        "event \(id): what it remembers of \(key.transactionID) is kept as \(kept)"
    }
}

func text(_ kept: (some Any)?) -> String { kept.map { "\($0)" } ?? "nothing" }
