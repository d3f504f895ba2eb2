package import CoinLedger

/// A lot as the projection keeps it.
package struct ProjectedLot: Hashable, Sendable {
    package let account: AccountID
    package let lot: Lot
    package let remaining: Coins
    package let environment: Environment
    package let source: CoinsGranted.Source
    /// The event that granted it, and when.
    package let grant: EventID
    package let grantedAt: Timestamp

    package init(
        account: AccountID, lot: Lot, remaining: Coins, environment: Environment,
        source: CoinsGranted.Source, grant: EventID, grantedAt: Timestamp
    ) {
        self.account = account
        self.lot = lot
        self.remaining = remaining
        self.environment = environment
        self.source = source
        self.grant = grant
        self.grantedAt = grantedAt
    }
}

/// Every lot with its source, some moments behind the events.
package protocol LotProjection: Sendable {
    /// The position up to which the lots of `lane` are there.
    func lotCheckpoint(of lane: Lane) async throws(EventStoreError) -> Int64

    /// The events of a lane that granted coins, of the `limit` positions after `position`, and the
    /// last position that was looked at: `position` itself if there is nothing new.
    func grants(
        in lane: Lane, after position: Int64, limit: Int64
    ) async throws(EventStoreError) -> (events: [StoredEvent], through: Int64)

    /// Adds lots and moves the checkpoint from `position` to `newPosition`, both or neither.
    ///
    /// - Throws: `.conflict` if the checkpoint isn't at `position`.
    func project(
        _ lots: [ProjectedLot], in lane: Lane, from position: Int64, to newPosition: Int64
    ) async throws(EventStoreError)

    /// Up to `limit` lots of a lane after one of an account, by account and number.
    func lots(
        in lane: Lane, after last: (account: AccountID, number: Int64)?, limit: Int
    ) async throws(EventStoreError) -> [ProjectedLot]
}
