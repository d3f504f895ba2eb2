import CoinLedger
import EventStore
import LedgerTestSupport

/// Makes a batch by hand, without any of the writer's code.
struct TestBatch {
    private(set) var batch: Batch
    private var accounts: [AccountID: Account] = [:]
    /// As they were before this batch.
    private var accountsBefore: [AccountID: Account] = [:]
    private var lots: [LotID: StoredLot] = [:]

    /// Where there are only batches made by hand before it, which have no numbers of their own.
    init(lane: Lane = 0, head: Int64) {
        self.init(lane: lane, after: LaneHead(position: head, batch: 0))
    }

    init(lane: Lane = 0, after head: LaneHead, number: Int64 = 0) {
        batch = Batch(lane: lane, expectedHead: head, number: number)
    }

    /// The batch that may follow this one.
    var next: TestBatch {
        var next = TestBatch(lane: batch.lane, head: head)
        next.accounts = accounts
        next.accountsBefore = accounts
        next.lots = lots
        return next
    }

    /// The position of its last event.
    var head: Int64 { batch.head.position }

    var lastEvent: EventID { EventID(lane: batch.lane, position: head) }

    func state(of account: AccountID) -> Account { accounts[account] ?? .new }

    /// All lots that there are after it.
    func lots(of account: AccountID) -> [StoredLot] {
        lots.values.filter { $0.account == account }.sorted { $0.lot.number < $1.lot.number }
    }

    func lot(_ number: Int64, of account: AccountID) -> Lot? {
        lots[LotID(account: account, number: number)]?.lot
    }

    /// Adds whatever has happened; what it claims is left to the functions that call this.
    func with(_ event: Event, of account: AccountID, at time: Timestamp = .noon) -> TestBatch {
        var next = self
        next.append(event, of: account, at: time)
        return next
    }

    func changing(_ change: (inout Batch) -> Void) -> TestBatch {
        var next = self
        change(&next.batch)
        return next
    }

    private mutating func append(_ event: Event, of account: AccountID, at time: Timestamp) {
        let id = EventID(lane: batch.lane, position: head + 1)
        var state = state(of: account)
        state.evolve(event, id: id)
        accounts[account] = state
        changed(account) { $0.account = state }
        let encoded = EventCodec.encode(event)
        let stored = StoredEvent(
            id: id, account: account, version: state.version, command: .numbered(1),
            occurredAt: time, recordedAt: time, type: encoded.type,
            schemaVersion: encoded.schemaVersion, payload: encoded.payload)
        batch.events.append(stored)
        move(event, stored)
    }

    private mutating func changed(_ id: AccountID, _ change: (inout ChangedAccount) -> Void) {
        let index =
            batch.accounts.firstIndex { $0.id == id }
            ?? {
                let before = accountsBefore[id] ?? .new
                batch.accounts.append(
                    ChangedAccount(
                        id: id, account: before, versionBefore: before.version,
                        lotCountBefore: before.lotCount, changedLots: []))
                return batch.accounts.count - 1
            }()
        change(&batch.accounts[index])
    }

    private mutating func move(_ event: Event, _ stored: StoredEvent) {
        switch event {
        case .coinsGranted(let granted):
            let source: StoredLot.Source =
                switch granted.source {
                case .purchase(let key): .purchase(key)
                case .gift(_, let campaignID): .gift(campaignID: campaignID)
                }
            for lot in granted.lots { open(lot, granted.environment, source, stored) }
        case .coinsAdjusted(let adjusted):
            switch adjusted.change {
            case .added(let lot):
                open(lot, adjusted.environment, .support(ticketID: adjusted.ticketID), stored)
            case .removed(let slices): take(slices, stored)
            }
        case .coinsSpent(let spent): take(spent.slices, stored)
        case .coinsExpired(let expired): take(expired.slices, stored)
        case .spendReversed(let reversed): give(reversed.returned, stored, 1)
        case .purchaseRefunded(let refunded): give(refunded.taken, stored, -1)
        case .refundReversed(let reversed): give(reversed.returned, stored, 1)
        case .debtPaid(let paid): give(paid.taken, stored, -1)
        case .purchaseRecorded, .appAccountTokenLinked, .coinsHeld, .holdReleased,
            .refundRemembered, .consentRecorded, .orderRecorded:
            break
        }
    }

    private mutating func open(
        _ lot: Lot, _ environment: Environment, _ source: StoredLot.Source,
        _ stored: StoredEvent
    ) {
        let new = StoredLot(
            account: stored.account, environment: environment, lot: lot, source: source,
            grant: stored.id, grantedAt: stored.recordedAt,
            rest: LotRest(remaining: lot.coins, valueOut: 0))
        lots[new.id] = new
    }

    private mutating func take(_ slices: [Slice], _ stored: StoredEvent) {
        for slice in slices {
            let id = LotID(account: stored.account, number: slice.lot)
            change(id, -slice.coins.amount, slice.value?.milliunits ?? 0)
        }
    }

    private mutating func give(_ slices: [ReturnedSlice], _ stored: StoredEvent, _ sign: Int64) {
        for slice in slices {
            let id = LotID(account: stored.account, number: slice.lot.number)
            change(id, sign * slice.coins.amount, -sign * (slice.value?.milliunits ?? 0))
        }
    }

    private mutating func change(_ id: LotID, _ coins: Int64, _ valueOut: Int64) {
        guard let lot = lots[id], let remaining = Coins(lot.rest.remaining.amount + coins) else {
            preconditionFailure("a test moves coins that aren't there")
        }
        let rest = LotRest(remaining: remaining, valueOut: lot.rest.valueOut + valueOut)
        lots[id] = lot.with(rest)
        let before = accountsBefore[id.account]?[lot.environment].openLot(id.number)
        let isNew = lot.grant.position > batch.expectedHead.position
        let change = ChangedLot(
            environment: lot.environment, lot: lot.lot,
            openedAt: isNew ? lot.grant.position : before?.openedAt, rest: rest)
        changed(id.account) { account in
            account.changedLots.removeAll { $0.lot.number == id.number }
            account.changedLots.append(change)
        }
    }
}

extension Batch {
    func account(_ id: AccountID) -> Account? { accounts.first { $0.id == id }?.account }
}
