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

    /// Appends the whole batch in one durable transaction, or nothing of it.
    ///
    /// - Throws: `.conflict` if the lane's head has moved, `.claimed` if it hasn't, but a claim is
    ///   taken: load and decide again; `.resultUnknown` if the batch may or may not have been appended.
    func append(_ batch: Batch) async throws(EventStoreError)

    /// The accounts among `ids` that have events.
    func accounts(_ ids: [AccountID]) async throws(EventStoreError) -> [AccountID: Account]

    /// Up to `limit` events of an account with a version above `version`, oldest first.
    func events(
        of account: AccountID, after version: Int64, limit: Int
    ) async throws(EventStoreError) -> [StoredEvent]

    /// Up to `limit` events of a lane with a position above `position`, in order.
    func events(
        in lane: Lane, after position: Int64, limit: Int
    ) async throws(EventStoreError) -> [StoredEvent]

    /// The position of each lane's last event.
    func heads() async throws(EventStoreError) -> [Lane: Int64]

    /// Up to `limit` accounts of a lane with an id above `id`, in the order of their UTF-8 bytes.
    func accounts(
        in lane: Lane, after id: AccountID?, limit: Int
    ) async throws(EventStoreError) -> [(id: AccountID, account: Account)]

    /// Keeps a refusal of a verified purchase for the support desk.
    func record(_ refusal: PurchaseRefusal) async throws(EventStoreError)
}

/// Why the store didn't do what it was asked.
package enum EventStoreError: Error, Hashable, Sendable {
    /// Something else was appended meanwhile. Nothing of this was written.
    case conflict
    /// A purchase or token of the batch was claimed before. Nothing of it was written.
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
    package let accounts: [AccountID]
    package let purchases: [PurchaseKey]
    package let tokens: [AppAccountToken]

    package init(
        lane: Lane, accounts: [AccountID], purchases: [PurchaseKey], tokens: [AppAccountToken]
    ) {
        self.lane = lane
        self.accounts = accounts
        self.purchases = purchases
        self.tokens = tokens
    }
}

/// What was found for a `LoadRequest`.
package struct Loaded: Sendable {
    /// The position of the lane's last event, read before everything else.
    package let head: Int64
    /// The requested accounts that have events.
    package let accounts: [AccountID: Account]
    package let facts: Facts

    package init(head: Int64, accounts: [AccountID: Account], facts: Facts) {
        self.head = head
        self.accounts = accounts
        self.facts = facts
    }
}

/// Everything that one append changes.
package struct Batch: Sendable {
    package let lane: Lane
    /// Where the lane's head must be; the first event stands one above it.
    package let expectedHead: Int64
    package let events: [StoredEvent]
    /// The accounts as they are after their events.
    package let accounts: [AccountID: Account]
    package let claims: [PurchaseKey: PurchaseClaim]
    package let tokenOwners: [AppAccountToken: AccountID]

    package init(
        lane: Lane, expectedHead: Int64, events: [StoredEvent], accounts: [AccountID: Account],
        claims: [PurchaseKey: PurchaseClaim], tokenOwners: [AppAccountToken: AccountID]
    ) {
        self.lane = lane
        self.expectedHead = expectedHead
        self.events = events
        self.accounts = accounts
        self.claims = claims
        self.tokenOwners = tokenOwners
    }
}

/// A verified purchase that was not granted, kept so that support can find it.
package struct PurchaseRefusal: Hashable, Sendable {
    package let account: AccountID
    package let key: PurchaseKey
    package let productID: String
    /// The stable code of the reason, such as `unknown_product`.
    package let code: String
    package let time: Timestamp

    package init(
        account: AccountID, key: PurchaseKey, productID: String, code: String, time: Timestamp
    ) {
        self.account = account
        self.key = key
        self.productID = productID
        self.code = code
        self.time = time
    }
}
