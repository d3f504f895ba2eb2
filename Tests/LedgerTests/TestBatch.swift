import CoinLedger
import EventStore
import LedgerTestSupport

/// Makes a batch by hand, without any of the writer's code.
struct TestBatch {
    let lane: Lane
    let head: Int64
    private var known: [AccountID: Account] = [:]
    private var changed: [AccountID: Account] = [:]
    private var events: [StoredEvent] = []
    private var claims: [PurchaseKey: PurchaseClaim] = [:]
    private var tokenOwners: [AppAccountToken: AccountID] = [:]

    init(lane: Lane = 0, head: Int64) { (self.lane, self.head) = (lane, head) }

    var batch: Batch {
        Batch(
            lane: lane, expectedHead: head, events: events, accounts: changed, claims: claims,
            tokenOwners: tokenOwners)
    }

    /// The batch that may follow this one.
    var next: TestBatch {
        var next = TestBatch(lane: lane, head: head + Int64(events.count))
        next.known = known.merging(changed) { $1 }
        return next
    }

    func grant(
        _ id: TransactionID, original: TransactionID? = nil, to account: AccountID,
        paid: Coins = 100, free: Coins = 0, environment: Environment = .production
    ) -> TestBatch {
        var batch = self
        let purchase = Purchase.appStore(id, original: original, environment: environment)
        var number = batch.state(of: account).lotCount
        var lots: [Lot] = []
        for (kind, coins) in [(Lot.Kind.paid, paid), (.free, free)] where coins > 0 {
            number += 1
            lots.append(Lot(number: number, kind: kind, coins: coins))
        }
        batch.append(
            .purchaseRecorded(PurchaseRecorded(purchase: purchase, catalogueVersion: "1")),
            to: account)
        batch.append(
            .coinsGranted(
                CoinsGranted(
                    environment: environment, source: .purchase(purchase.key), lots: lots)),
            to: account)
        for key in [purchase.key, .appStore(original ?? id, environment)] {
            batch.claims[key] = PurchaseClaim(
                account: account, command: .numbered(1),
                grant: EventID(lane: lane, position: head + Int64(batch.events.count)),
                coins: GrantedCoins(paid: paid, free: free))
        }
        return batch
    }

    func link(_ token: AppAccountToken, to account: AccountID) -> TestBatch {
        var batch = self
        batch.append(.appAccountTokenLinked(token), to: account)
        batch.tokenOwners[token] = account
        return batch
    }

    private func state(of account: AccountID) -> Account {
        changed[account] ?? known[account] ?? .new
    }

    private mutating func append(_ event: Event, to account: AccountID) {
        var state = state(of: account)
        state.evolve(event)
        changed[account] = state
        let encoded = EventCodec.encode(event)
        events.append(
            StoredEvent(
                id: EventID(lane: lane, position: head + Int64(events.count) + 1),
                account: account, version: state.version, command: .numbered(1),
                occurredAt: .noon, recordedAt: .noon, type: encoded.type,
                schemaVersion: encoded.schemaVersion, payload: encoded.payload))
    }
}
