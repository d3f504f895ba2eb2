package import CoinLedger
package import EventStore

/// A ledger in memory, for tests and simulations. It keeps every promise of `EventStore` but
/// durability.
package actor InMemoryEventStore: EventStore {
    package nonisolated let laneCount: Int64

    private var log: [Lane: [StoredEvent]] = [:]
    private var accounts: [AccountID: Account] = [:]
    private var claims: [PurchaseKey: PurchaseClaim] = [:]
    private var tokenOwners: [AppAccountToken: AccountID] = [:]
    private var refusals: [PurchaseRefusal] = []

    package init(laneCount: Int64) {
        self.laneCount = laneCount
    }

    package func load(_ request: LoadRequest) throws(EventStoreError) -> Loaded {
        var facts = Facts()
        for key in request.purchases { facts.claims[key] = claims[key] }
        for token in request.tokens { facts.tokenOwners[token] = tokenOwners[token] }
        return Loaded(
            head: head(of: request.lane), accounts: known(request.accounts), facts: facts)
    }

    package func append(_ batch: Batch) throws(EventStoreError) {
        guard batch.expectedHead == head(of: batch.lane) else { throw .conflict }
        guard !batch.claims.keys.contains(where: { claims[$0] != nil }),
            !batch.tokenOwners.keys.contains(where: { tokenOwners[$0] != nil })
        else { throw .claimed }
        log[batch.lane, default: []] += batch.events
        accounts.merge(batch.accounts) { $1 }
        claims.merge(batch.claims) { $1 }
        tokenOwners.merge(batch.tokenOwners) { $1 }
    }

    package func accounts(_ ids: [AccountID]) throws(EventStoreError) -> [AccountID: Account] {
        known(ids)
    }

    package func events(
        of account: AccountID, after version: Int64, limit: Int
    ) throws(EventStoreError) -> [StoredEvent] {
        let lane = log[Lane.of(account, count: laneCount)] ?? []
        return Array(lane.filter { $0.account == account && $0.version > version }.prefix(limit))
    }

    package func events(
        in lane: Lane, after position: Int64, limit: Int
    ) throws(EventStoreError) -> [StoredEvent] {
        Array((log[lane] ?? []).drop { $0.id.position <= position }.prefix(limit))
    }

    package func heads() throws(EventStoreError) -> [Lane: Int64] {
        var heads: [Lane: Int64] = [:]
        for number in 0..<laneCount {
            if let lane = Lane(number) { heads[lane] = head(of: lane) }
        }
        return heads
    }

    package func accounts(
        in lane: Lane, after id: AccountID?, limit: Int
    ) throws(EventStoreError) -> [(id: AccountID, account: Account)] {
        let inLane = accounts.filter { Lane.of($0.key, count: laneCount) == lane }
        let sorted = inLane.sorted { $0.key.isBefore($1.key) }
        let rest = sorted.drop { entry in id.map { !$0.isBefore(entry.key) } ?? false }
        return rest.prefix(limit).map { (id: $0.key, account: $0.value) }
    }

    package func record(_ refusal: PurchaseRefusal) throws(EventStoreError) {
        refusals.append(refusal)
    }

    private func head(of lane: Lane) -> Int64 { Int64(log[lane]?.count ?? 0) }

    private func known(_ ids: [AccountID]) -> [AccountID: Account] {
        var found: [AccountID: Account] = [:]
        for id in ids { found[id] = accounts[id] }
        return found
    }
}

extension AccountID {
    fileprivate func isBefore(_ other: AccountID) -> Bool {
        text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }
}
