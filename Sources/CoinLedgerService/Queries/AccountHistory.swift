package import CoinLedger
package import EventStore

/// Answers what was, from the events themselves.
package struct AccountHistory: Sendable {
    private let store: any EventStore

    private static let pageSize = 1000

    package init(store: any EventStore) { self.store = store }

    /// Up to which event a balance is asked for.
    package enum End: Hashable, Sendable {
        /// The last event recorded at or before this instant.
        case at(Timestamp)
        case event(EventID)
    }

    /// What an account was after an event: the fold of its events up to there.
    package struct State: Sendable {
        package let account: Account
        /// When the last of them was recorded; nil if there was none.
        package let recordedAt: Timestamp?
    }

    /// - Returns: nil if the event isn't one of the account's.
    package func state(
        of account: AccountID, upTo end: End
    ) async throws(EventStoreError) -> State? {
        var state = Account.new
        var recordedAt: Timestamp?
        while true {
            let page = try await store.events(
                of: account, after: state.version, limit: AccountHistory.pageSize, where: .all)
            for stored in page {
                if case .at(let time) = end, stored.recordedAt > time {
                    return State(account: state, recordedAt: recordedAt)
                }
                state.evolve(try stored.decoded(), id: stored.id)
                recordedAt = stored.recordedAt
                if end == .event(stored.id) { return State(account: state, recordedAt: recordedAt) }
            }
            guard page.count == AccountHistory.pageSize else { break }
        }
        if case .event = end { return nil }
        return State(account: state, recordedAt: recordedAt)
    }
}
