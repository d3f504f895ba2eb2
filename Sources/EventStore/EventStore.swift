package import CoinLedger

/// The log of events, and what is kept beside it to answer quickly.
///
/// The log is divided into lanes; positions are gapless and in commit order within a lane, so that
/// "after position n" is a complete cursor.
package protocol EventStore: Sendable {
    /// The lanes this ledger was created with.
    var laneCount: Int64 { get }

    /// Reads what decisions in `request.lane` need.
    ///
    /// The lane's head is read first: whatever is read after it may be newer, which the fence of
    /// `append` then finds out, but never older.
    func load(_ request: LoadRequest) async throws(EventStoreError) -> Loaded

    /// Account states as they were at some moment since the call, with all of their open lots or with
    /// those at hand. Doesn't wait for appends that are under way.
    func states(
        of ids: [AccountID], withLots: Bool
    ) async throws(EventStoreError) -> [AccountID: Account]

    /// Appends the whole batch in one durable transaction, or nothing of it. Batches of one lane
    /// are appended in the order of the calls, and the next one needn't wait for this one's end: if
    /// this one fails, so does whatever expects its head.
    ///
    /// - Throws: `.conflict` if the lane's head has moved, `.claimed` if it hasn't, but a claim is
    ///   taken: load and decide again; `.resultUnknown` if the batch may or may not have been appended.
    func append(_ batch: consuming Batch) async throws(EventStoreError)

    /// Keeps everybody else from appending to a lane until `endTurn`, so that a writer which others
    /// always outrun gets its turn. Waits until others have had theirs.
    func takeTurn(in lane: Lane) async throws(EventStoreError)

    /// Lets others append again. A turn also ends with the connection that took it.
    func endTurn(in lane: Lane) async throws(EventStoreError)

    /// The balances at `time` of the accounts among `ids` that have events.
    func balances(
        of ids: [AccountID], at time: Timestamp
    ) async throws(EventStoreError) -> [AccountID: AccountBalance]

    /// The whole state of an account, nil if it has no events.
    func account(_ id: AccountID) async throws(EventStoreError) -> Account?

    /// Who has each of the purchases, and what is remembered of those that nobody has.
    func claims(on keys: [PurchaseKey]) async throws(EventStoreError) -> PurchaseClaims

    /// The event of that name, nil if there is none.
    func event(_ id: EventID) async throws(EventStoreError) -> StoredEvent?

    /// The event that says what the store's order holds, nil if it was never looked up.
    func order(_ id: OrderID) async throws(EventStoreError) -> StoredEvent?

    /// Up to `limit` events of an account with a version above `version`, oldest first.
    func events(
        of account: AccountID, after version: Int64, limit: Int, where filter: EventFilter
    ) async throws(EventStoreError) -> [StoredEvent]

    /// Up to `limit` events of a lane with a position above `position`, in order.
    func events(
        in lane: Lane, after position: Int64, limit: Int
    ) async throws(EventStoreError) -> [StoredEvent]

    /// Up to `limit` lots of an account with a number above `number`, in order.
    func lots(
        of account: AccountID, after number: Int64, limit: Int, openOnly: Bool
    ) async throws(EventStoreError) -> [StoredLot]

    /// Up to `limit` lots of a lane after one of an account, by account (its UTF-8 bytes) and number.
    func lots(
        in lane: Lane, after last: LotID?, limit: Int
    ) async throws(EventStoreError) -> [StoredLot]

    /// Up to `limit` accounts of a lane that have open lots whose time was over at `time`.
    func accountsWithExpiredLots(
        in lane: Lane, at time: Timestamp, limit: Int
    ) async throws(EventStoreError) -> [AccountID]

    /// The position of each lane's last event.
    func heads() async throws(EventStoreError) -> [Lane: Int64]

    /// Up to `limit` accounts of a lane with an id above `id`, in the order of their UTF-8 bytes.
    func accounts(
        in lane: Lane, after id: AccountID?, limit: Int
    ) async throws(EventStoreError) -> [(id: AccountID, account: Account)]

    /// Forgets up to `limit` answers that were recorded before `time`; returns how many it were.
    func forgetAnswers(
        recordedBefore time: Timestamp, limit: Int
    ) async throws(EventStoreError) -> Int
}

/// Why the store didn't do what it was asked.
package enum EventStoreError: Error, Hashable, Sendable {
    /// Something else was appended meanwhile. Nothing of this was written.
    case conflict
    /// A purchase, token, spend, order or key of the batch was claimed before. Nothing of it was
    /// written.
    case claimed
    /// The store can't be reached or takes no writes now. Nothing was written.
    case unavailable(String)
    /// The connection was lost while the batch was committed.
    case resultUnknown(String)
    /// What is stored can't be read, or the store answered against its contract.
    case corrupt(String)
}

extension EventStoreError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .conflict: "something else was written meanwhile"
        case .claimed: "something was claimed before"
        case .unavailable(let reason): "the ledger can't be used now: \(reason)"
        case .resultUnknown(let reason): "it's unknown whether the ledger took it: \(reason)"
        case .corrupt(let reason): "the ledger isn't as it should be: \(reason)"
        }
    }
}

/// What a batch of commands of one lane depends on.
package struct LoadRequest: Sendable {
    package let lane: Lane
    package var accounts: [AccountID] = []
    /// Accounts of whose lots it's enough to read those that are at hand: see `Account.isPartial`.
    package var accountsWithoutLots: [AccountID] = []
    package var purchases: [PurchaseKey] = []
    package var tokens: [AppAccountToken] = []
    /// Spends that may have been reversed.
    package var spends: [EventID] = []
    /// Lots that may be open no more. Those that are open needn't be found.
    package var lots: [LotID] = []
    /// Orders that may have been looked up before.
    package var orders: [OrderID] = []
    /// Keys that may have been answered before.
    package var keys: [IdempotencyKey] = []

    package init(lane: Lane) { self.lane = lane }
}

/// What was found for a `LoadRequest`.
package struct Loaded: Sendable {
    /// The lane's end, read before everything else.
    package let head: LaneHead
    /// The requested accounts that have events.
    package let accounts: [AccountID: Account]
    package let facts: Facts
    package let answers: [IdempotencyKey: StoredAnswer]

    package init(
        head: LaneHead, accounts: [AccountID: Account], facts: Facts,
        answers: [IdempotencyKey: StoredAnswer]
    ) {
        self.head = head
        self.accounts = accounts
        self.facts = facts
        self.answers = answers
    }
}

/// Who has purchases, and what is remembered of those that nobody has.
package struct PurchaseClaims: Hashable, Sendable {
    package var granted: [PurchaseKey: PurchaseClaim] = [:]
    package var remembered: [PurchaseKey: RememberedRefund] = [:]

    package init() {}
}

/// Which events of an account are asked for.
package struct EventFilter: Hashable, Sendable {
    /// Stored names of types; nil for all.
    package var types: [String]?
    /// Recorded at or after this instant.
    package var from: Timestamp?
    /// Recorded before this instant.
    package var until: Timestamp?

    package static let all = EventFilter()

    package init() {}
}

/// The end of a lane.
package struct LaneHead: Hashable, Sendable {
    /// That of the last event; 0 before the first.
    package let position: Int64
    /// A number at random that the last batch was given by its writer, so that two batches which
    /// end at one position are told apart; 0 before the first.
    package let batch: Int64

    package static let start = LaneHead(position: 0, batch: 0)

    package init(position: Int64, batch: Int64) {
        self.position = position
        self.batch = batch
    }
}

/// Everything that one append changes. Events may be missing, if only answers are kept.
package struct Batch: Sendable {
    package let lane: Lane
    /// Where the lane's head must be; the first event stands one above it.
    package let expectedHead: LaneHead
    /// What makes this batch's head distinct from all others.
    package let number: Int64
    package var events: [StoredEvent] = []
    /// Those that the events change.
    package var accounts: [ChangedAccount] = []
    /// Purchases granted by the batch.
    package var claims: [PurchaseKey: PurchaseClaim] = [:]
    /// Purchases whose refund the batch remembers, and the event that does so.
    package var remembered: [PurchaseKey: EventID] = [:]
    /// Those among both that have been remembered before, and the event that must have done so.
    package var takenOver: [PurchaseKey: EventID] = [:]
    package var tokenOwners: [AppAccountToken: AccountID] = [:]
    /// Spends that the batch reverses, and the event that does so.
    package var reversals: [EventID: EventID] = [:]
    /// Orders that were looked up, and the event that says what they hold.
    package var orders: [OrderID: EventID] = [:]
    package var answers: [IdempotencyKey: StoredAnswer] = [:]

    package init(lane: Lane, expectedHead: LaneHead, number: Int64) {
        self.lane = lane
        self.expectedHead = expectedHead
        self.number = number
    }

    /// Where the lane's head is once it's appended.
    package var head: LaneHead {
        LaneHead(position: expectedHead.position + Int64(events.count), batch: number)
    }
}

/// What a batch does to an account.
package struct ChangedAccount: Sendable {
    package let id: AccountID
    /// As it is after the batch.
    package var account: Account
    /// How many events it had before, and how many lots it had ever had.
    package let versionBefore: Int64
    package let lotCountBefore: Int64
    /// Lots that were drawn from or given back to, those that the batch opens among them.
    package var changedLots: [ChangedLot]

    package init(
        id: AccountID, account: Account, versionBefore: Int64, lotCountBefore: Int64,
        changedLots: [ChangedLot]
    ) {
        self.id = id
        self.account = account
        self.versionBefore = versionBefore
        self.lotCountBefore = lotCountBefore
        self.changedLots = changedLots
    }
}
