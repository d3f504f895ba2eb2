import CoinLedger
import EventStore

/// What is decided for the commands of one batch, one after the other: each sees what those before
/// it have changed.
struct Decisions {
    private let lane: Lane
    private let expectedHead: Int64
    private var facts: Facts
    private var events: [StoredEvent] = []
    private var claims: [PurchaseKey: PurchaseClaim] = [:]
    private var tokenOwners: [AppAccountToken: AccountID] = [:]
    private var changed: Set<AccountID> = []

    /// Every account of the batch after its commands.
    private(set) var states: [AccountID: Account] = [:]
    private(set) var outcomes: [Outcome] = []

    init(lane: Lane, expectedHead: Int64, facts: Facts) {
        self.lane = lane
        self.expectedHead = expectedHead
        self.facts = facts
    }

    /// Where the lane's head is once the batch is appended.
    var head: Int64 { expectedHead + Int64(events.count) }

    /// What is to be appended, or nil if no command causes an event.
    var batch: Batch? {
        guard !events.isEmpty else { return nil }
        return Batch(
            lane: lane, expectedHead: expectedHead, events: events,
            accounts: states.filter { changed.contains($0.key) }, claims: claims,
            tokenOwners: tokenOwners)
    }

    /// Decides `command` from `loaded`, the account's state before the batch.
    mutating func decide(_ command: Command, from loaded: Account) {
        var account = states[command.account] ?? loaded
        do throws(Rejection) {
            let caused = try account.decide(command, knowing: facts)
            var ids: [EventID] = []
            for event in caused {
                account.evolve(event)
                let id = EventID(lane: lane, position: head + 1)
                append(event, id, account.version, command)
                learn(event, id, command)
                ids.append(id)
            }
            changed.insert(command.account)
            outcomes.append(Outcome(result: .done(ids), account: account))
        } catch {
            outcomes.append(Outcome(result: .rejected(error), account: account))
        }
        states[command.account] = account
    }

    private mutating func append(
        _ event: Event, _ id: EventID, _ version: Int64, _ command: Command
    ) {
        let encoded = EventCodec.encode(event)
        events.append(
            StoredEvent(
                id: id, account: command.account, version: version, command: command.id,
                occurredAt: event.occurredAt ?? command.time, recordedAt: command.time,
                type: encoded.type, schemaVersion: encoded.schemaVersion,
                payload: encoded.payload))
    }

    private mutating func learn(_ event: Event, _ id: EventID, _ command: Command) {
        switch event {
        case .purchaseRecorded: break
        case .coinsGranted(let granted):
            guard case .grantPurchase(let grant) = command.action else { return }
            let claim = PurchaseClaim(
                account: command.account, command: command.id, grant: id, coins: granted.coins)
            for key in grant.purchase.claimedKeys {
                facts.claims[key] = claim
                claims[key] = claim
            }
        case .appAccountTokenLinked(let token):
            facts.tokenOwners[token] = command.account
            tokenOwners[token] = command.account
        }
    }
}

extension Event {
    /// When it happened, where that's known to be earlier than when the ledger was told.
    fileprivate var occurredAt: Timestamp? {
        switch self {
        case .purchaseRecorded(let event): event.purchase.purchasedAt
        case .coinsGranted, .appAccountTokenLinked: nil
        }
    }
}

/// What has to be read before a batch can be decided.
struct NeededFacts {
    private var accounts: Set<AccountID> = []
    private var purchases: Set<PurchaseKey> = []
    private var tokens: Set<AppAccountToken> = []

    /// Whether there is something that can't be done without. Claims can, if need be: `append`
    /// refuses those that are taken.
    func mustBeLoaded(withClaims: Bool) -> Bool {
        !accounts.isEmpty || !tokens.isEmpty || (withClaims && !purchases.isEmpty)
    }

    mutating func add(_ command: Command, isCached: (AccountID) -> Bool) {
        if !isCached(command.account) { accounts.insert(command.account) }
        switch command.action {
        case .grantPurchase(let grant):
            purchases.formUnion(grant.purchase.claimedKeys)
            if let token = grant.purchase.appAccountToken { tokens.insert(token) }
        case .linkAppAccountToken(let token): tokens.insert(token)
        }
    }

    func loadRequest(in lane: Lane) -> LoadRequest {
        LoadRequest(
            lane: lane, accounts: Array(accounts), purchases: Array(purchases),
            tokens: Array(tokens))
    }
}
