package import CoinLedger
package import EventStore

/// A ledger in memory, for tests and simulations. It keeps every promise of `EventStore` but
/// durability.
package actor InMemoryEventStore: EventStore {
    package nonisolated let laneCount: Int64

    private var log: [Lane: [StoredEvent]] = [:]
    private var ends: [Lane: LaneHead] = [:]
    private var accounts: [AccountID: Account] = [:]
    private var lots: [LotID: StoredLot] = [:]
    private var claims = PurchaseClaims()
    private(set) var tokenOwners: [AppAccountToken: AccountID] = [:]
    private var reversals: [EventID: EventID] = [:]
    private var orders: [OrderID: EventID] = [:]
    private var answers: [IdempotencyKey: StoredAnswer] = [:]
    var keptAttempts: [AttemptName: KeptAttempt] = [:]
    /// In the order of arrival.
    var notifications: [KeptNotification] = []
    var lastNotificationNumber: Int64 = 0

    package init(laneCount: Int64) {
        self.laneCount = laneCount
    }

    package func load(_ request: LoadRequest) throws(EventStoreError) -> Loaded {
        let claims = known(request.purchases)
        var facts = Facts(claims: claims.granted, rememberedRefunds: claims.remembered)
        for token in request.tokens { facts.tokenOwners[token] = tokenOwners[token] }
        for spend in request.spends { facts.reversals[spend] = reversals[spend] }
        for order in request.orders { facts.orders[order] = orders[order] }
        for lot in request.lots { facts.lots[lot] = lots[lot]?.lot }
        let accounts = states(of: request.accounts + request.accountsWithoutLots, withLots: true)
        var answers: [IdempotencyKey: StoredAnswer] = [:]
        for key in request.keys { answers[key] = self.answers[key] }
        return Loaded(
            head: head(of: request.lane), accounts: accounts, facts: facts, answers: answers)
    }

    package func states(of ids: [AccountID], withLots: Bool) -> [AccountID: Account] {
        var states: [AccountID: Account] = [:]
        for id in ids { states[id] = accounts[id] }
        return states
    }

    // Nobody outruns anybody here.
    package func takeTurn(in lane: Lane) {}
    package func endTurn(in lane: Lane) {}

    package func append(_ batch: Batch) throws(EventStoreError) {
        guard batch.expectedHead == head(of: batch.lane) else { throw .conflict }
        guard isUnclaimed(batch) else { throw .claimed }
        let remembered = try rememberedRefunds(batch)
        let lots = try lots(after: batch)
        ends[batch.lane] = batch.head
        if !batch.events.isEmpty { log[batch.lane, default: []] += batch.events }
        for changed in batch.accounts { accounts[changed.id] = changed.account }
        self.lots.merge(lots) { $1 }
        claims.remembered.merge(remembered) { $1 }
        for (key, claim) in batch.claims {
            claims.remembered[key] = nil
            claims.granted[key] = claim
        }
        tokenOwners.merge(batch.tokenOwners) { $1 }
        reversals.merge(batch.reversals) { $1 }
        orders.merge(batch.orders) { $1 }
        answers.merge(batch.answers) { $1 }
    }

    private func isUnclaimed(_ batch: Batch) -> Bool {
        Set(batch.claims.keys).union(batch.remembered.keys).allSatisfy { key in
            claims.granted[key] == nil && claims.remembered[key]?.event == batch.takenOver[key]
        } && batch.tokenOwners.keys.allSatisfy { tokenOwners[$0] == nil }
            && batch.reversals.keys.allSatisfy { reversals[$0] == nil }
            && batch.orders.keys.allSatisfy { orders[$0] == nil }
            && batch.answers.keys.allSatisfy { answers[$0] == nil }
    }

    /// What the batch remembers, as its events say.
    private func rememberedRefunds(
        _ batch: Batch
    ) throws(EventStoreError) -> [PurchaseKey: RememberedRefund] {
        var remembered: [PurchaseKey: RememberedRefund] = [:]
        for (key, id) in batch.remembered {
            guard let event = batch.events.first(where: { $0.id == id }),
                case .refundRemembered(let refund) = try event.decoded()
            else { throw .corrupt("event \(id) remembers no refund") }
            remembered[key] = RememberedRefund(refund: refund, event: id)
        }
        return remembered
    }

    /// Those that the batch opens or changes.
    private func lots(after batch: Batch) throws(EventStoreError) -> [LotID: StoredLot] {
        var changed: [LotID: StoredLot] = [:]
        for event in batch.events {
            for lot in try event.openedLots() { changed[lot.id] = lot }
        }
        for account in batch.accounts {
            for lot in account.changedLots {
                let id = LotID(account: account.id, number: lot.lot.number)
                guard let known = changed[id] ?? lots[id] else {
                    throw .corrupt("lot \(id.number) of \(id.account) isn't there")
                }
                changed[id] = known.with(lot.rest)
            }
        }
        return changed
    }

    package func balances(
        of ids: [AccountID], at time: Timestamp
    ) throws(EventStoreError) -> [AccountID: AccountBalance] {
        var balances: [AccountID: AccountBalance] = [:]
        for id in ids { balances[id] = accounts[id]?.balance(at: time) }
        return balances
    }

    package func account(_ id: AccountID) throws(EventStoreError) -> Account? { accounts[id] }

    package func claims(on keys: [PurchaseKey]) throws(EventStoreError) -> PurchaseClaims {
        known(keys)
    }

    package func event(_ id: EventID) throws(EventStoreError) -> StoredEvent? {
        log[id.lane]?.first { $0.id == id }
    }

    package func order(_ id: OrderID) throws(EventStoreError) -> StoredEvent? {
        guard let event = orders[id] else { return nil }
        return try self.event(event)
    }

    package func events(
        of account: AccountID, after version: Int64, limit: Int, where filter: EventFilter
    ) throws(EventStoreError) -> [StoredEvent] {
        let lane = log[Lane.of(account, count: laneCount)] ?? []
        let events = lane.lazy.filter {
            $0.account == account && $0.version > version && filter.matches($0)
        }
        return Array(events.prefix(limit))
    }

    package func events(
        in lane: Lane, after position: Int64, limit: Int
    ) throws(EventStoreError) -> [StoredEvent] {
        Array((log[lane] ?? []).drop { $0.id.position <= position }.prefix(limit))
    }

    package func lots(
        of account: AccountID, after number: Int64, limit: Int, openOnly: Bool
    ) throws(EventStoreError) -> [StoredLot] {
        let found = lots.values.filter {
            $0.account == account && $0.lot.number > number && ($0.isOpen || !openOnly)
        }
        return Array(found.sorted { $0.lot.number < $1.lot.number }.prefix(limit))
    }

    package func lots(
        in lane: Lane, after last: LotID?, limit: Int
    ) throws(EventStoreError) -> [StoredLot] {
        let inLane = lots.values.filter { Lane.of($0.account, count: laneCount) == lane }
        let sorted = inLane.sorted { $0.id.isBefore($1.id) }
        let rest = sorted.drop { lot in last.map { !$0.isBefore(lot.id) } ?? false }
        return Array(rest.prefix(limit))
    }

    package func accountsWithExpiredLots(
        in lane: Lane, at time: Timestamp, limit: Int
    ) throws(EventStoreError) -> [AccountID] {
        let expired = lots.values.filter {
            $0.isOpen && $0.lot.isExpired(at: time)
                && Lane.of($0.account, count: laneCount) == lane
        }
        let sorted = expired.sorted { one, other in
            one.lot.expiresAt == other.lot.expiresAt
                ? one.id.isBefore(other.id) : other.lot.isLater(than: one.lot)
        }
        var accounts: [AccountID] = []
        for lot in sorted.prefix(limit) where !accounts.contains(lot.account) {
            accounts.append(lot.account)
        }
        return accounts
    }

    package func heads() throws(EventStoreError) -> [Lane: Int64] {
        var positions: [Lane: Int64] = [:]
        for number in 0..<laneCount {
            if let lane = Lane(number) { positions[lane] = head(of: lane).position }
        }
        return positions
    }

    package func accounts(
        in lane: Lane, after id: AccountID?, limit: Int
    ) throws(EventStoreError) -> [(id: AccountID, account: Account)] {
        let inLane = accounts.filter { Lane.of($0.key, count: laneCount) == lane }
        let sorted = inLane.sorted { $0.key.isBefore($1.key) }
        let rest = sorted.drop { entry in id.map { !$0.isBefore(entry.key) } ?? false }
        return rest.prefix(limit).map { (id: $0.key, account: $0.value) }
    }

    package func forgetAnswers(
        recordedBefore time: Timestamp, limit: Int
    ) throws(EventStoreError) -> Int {
        let old = answers.filter { $0.value.recordedAt < time }
            .sorted { $0.value.recordedAt < $1.value.recordedAt }.prefix(limit)
        for answer in old { answers[answer.key] = nil }
        return old.count
    }

    private func head(of lane: Lane) -> LaneHead { ends[lane] ?? .start }

    private func known(_ keys: [PurchaseKey]) -> PurchaseClaims {
        var known = PurchaseClaims()
        for key in keys {
            known.granted[key] = claims.granted[key]
            known.remembered[key] = claims.remembered[key]
        }
        return known
    }
}

extension EventFilter {
    fileprivate func matches(_ event: StoredEvent) -> Bool {
        if let types, !types.contains(event.type) { return false }
        if let from, event.recordedAt < from { return false }
        if let until, event.recordedAt >= until { return false }
        return true
    }
}

extension StoredEvent {
    /// The lots that it opens, as they are then.
    fileprivate func openedLots() throws(EventStoreError) -> [StoredLot] {
        let opening: [EventCodec.EventType] = [.coinsGranted, .coinsAdjusted]
        guard opening.contains(where: { $0.rawValue == type }) else { return [] }
        guard let opened = try decoded().opened else { return [] }
        return opened.lots.map { lot in
            StoredLot(
                account: account, environment: opened.environment, lot: lot,
                source: opened.source, grant: id, grantedAt: recordedAt,
                rest: LotRest(OpenLot(lot)))
        }
    }
}

extension Lot {
    fileprivate func isLater(than other: Lot) -> Bool {
        guard let expiresAt, let otherExpiresAt = other.expiresAt else { return false }
        return expiresAt > otherExpiresAt
    }
}
