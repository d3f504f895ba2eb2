import AppStore
package import CoinLedger
package import EventStore

/// Tells whose purchase a transaction is, by the token that the app attached to it.
package struct TokenOwners: Sendable {
    private let store: any EventStore & NotificationStore
    private let clock: @Sendable () -> Timestamp

    package init(
        store: any EventStore & NotificationStore, clock: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.clock = clock
    }

    /// The account that the token is linked to, or else the account with events that has it as its
    /// id, in either case of letters; nil if there is neither.
    package func owner(of token: AppAccountToken) async throws(EventStoreError) -> AccountID? {
        if let owner = try await store.owner(of: token) { return owner }
        let ids = [token.text, token.text.uppercased()].compactMap { AccountID($0) }
        let known = try await store.balances(of: ids, at: clock())
        return ids.first { known[$0] != nil }
    }

    func owner(of transaction: StoreTransaction) async throws(EventStoreError) -> AccountID? {
        guard let token = transaction.appAccountToken.flatMap(AppAccountToken.init) else {
            return nil
        }
        return try await owner(of: token)
    }
}
