import CoinLedger
import EventStore
import LedgerTestSupport
import Testing

/// Every event of a store, by lane, read a few at a time.
func allEvents(_ store: any EventStore) async throws -> [Lane: [StoredEvent]] {
    var lanes: [Lane: [StoredEvent]] = [:]
    for number in 0..<store.laneCount {
        let lane = try #require(Lane(number))
        var events: [StoredEvent] = []
        while true {
            let page = try await store.events(
                in: lane, after: events.last?.id.position ?? 0, limit: 50)
            if page.isEmpty { break }
            events += page
        }
        lanes[lane] = events
    }
    return lanes
}

/// Checks what must hold of every ledger: positions and versions without a gap, accounts and lots
/// equal to the fold of their events, and at most one grant a purchase.
///
/// - Returns: how often each purchase was granted.
@discardableResult
func expectSound(
    _ store: any EventStore, sourceLocation: SourceLocation = #_sourceLocation
) async throws -> [PurchaseKey: Int] {
    var folded: [AccountID: Account] = [:]
    var grants: [PurchaseKey: Int] = [:]
    var lots = LotSums()
    let heads = try await store.heads()
    for (lane, events) in try await allEvents(store) {
        #expect(
            events.map(\.id) == events.indices.map { EventID(lane: lane, position: Int64($0) + 1) },
            sourceLocation: sourceLocation)
        #expect(heads[lane] == Int64(events.count), sourceLocation: sourceLocation)
        for stored in events {
            let event = try EventCodec.decode(stored)
            var account = folded[stored.account] ?? .new
            account.evolve(event, id: stored.id)
            folded[stored.account] = account
            lots.add(event, of: stored.account)
            #expect(stored.version == account.version, sourceLocation: sourceLocation)
            if case .coinsGranted(let granted) = event, case .purchase(let key) = granted.source {
                grants[key, default: 0] += 1
            }
        }
    }
    let kept = try await store.accounts(Array(folded.keys))
    #expect(kept == folded, sourceLocation: sourceLocation)
    let balances = try await store.balances(of: Array(folded.keys), at: .noon)
    #expect(
        balances == folded.mapValues { $0.balance(at: .noon) }, sourceLocation: sourceLocation)
    let keptLots = try await LotSums(kept: store)
    #expect(keptLots == lots, sourceLocation: sourceLocation)
    #expect(grants.values.allSatisfy { $0 == 1 }, sourceLocation: sourceLocation)
    return grants
}

extension EventStore {
    /// The states of those that have events.
    func accounts(_ ids: [AccountID]) async throws(EventStoreError) -> [AccountID: Account] {
        var accounts: [AccountID: Account] = [:]
        for id in ids { accounts[id] = try await account(id) }
        return accounts
    }

    /// Every lot of an account.
    func lots(of account: AccountID) async throws(EventStoreError) -> [StoredLot] {
        try await lots(of: account, after: 0, limit: 1000, openOnly: false)
    }
}

/// What every lot has left, in plain numbers: coins, and the value that has flowed out.
private struct LotSums: Equatable {
    var coins: [LotID: Int64] = [:]
    var valueOut: [LotID: Int64] = [:]

    init() {}

    init(kept store: any EventStore) async throws {
        for number in 0..<store.laneCount {
            let lane = try #require(Lane(number))
            var last: LotID?
            while true {
                let page = try await store.lots(in: lane, after: last, limit: 50)
                guard let end = page.last else { break }
                last = end.id
                for lot in page {
                    coins[lot.id] = lot.rest.remaining.amount
                    valueOut[lot.id] = lot.rest.valueOut
                }
            }
        }
    }

    mutating func add(_ event: Event, of account: AccountID) {
        switch event {
        case .coinsGranted(let event): for lot in event.lots { open(lot, account) }
        case .coinsAdjusted(let event):
            switch event.change {
            case .added(let lot): open(lot, account)
            case .removed(let slices): take(slices, account)
            }
        case .coinsSpent(let event): take(event.slices, account)
        case .coinsExpired(let event): take(event.slices, account)
        case .spendReversed(let event): give(event.returned, account, 1)
        case .refundReversed(let event): give(event.returned, account, 1)
        case .purchaseRefunded(let event): give(event.taken, account, -1)
        case .debtPaid(let event): give(event.taken, account, -1)
        case .purchaseRecorded, .appAccountTokenLinked, .coinsHeld, .holdReleased,
            .refundRemembered, .consentRecorded, .orderRecorded:
            break
        }
    }

    private mutating func open(_ lot: Lot, _ account: AccountID) {
        let id = LotID(account: account, number: lot.number)
        coins[id] = lot.coins.amount
        valueOut[id] = 0
    }

    private mutating func take(_ slices: [Slice], _ account: AccountID) {
        for slice in slices {
            let id = LotID(account: account, number: slice.lot)
            coins[id, default: 0] -= slice.coins.amount
            valueOut[id, default: 0] += slice.value?.milliunits ?? 0
        }
    }

    private mutating func give(_ slices: [ReturnedSlice], _ account: AccountID, _ sign: Int64) {
        for slice in slices {
            let id = LotID(account: account, number: slice.lot.number)
            coins[id, default: 0] += sign * slice.coins.amount
            valueOut[id, default: 0] -= sign * (slice.value?.milliunits ?? 0)
        }
    }
}
