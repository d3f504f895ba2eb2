package import CoinLedger
package import EventStore

/// The notifications as the support desk sees them, and what it may do about them.
package struct NotificationQueue: Sendable {
    package let store: any NotificationStore
    private let bell: NotificationBell
    private let clock: @Sendable () -> Timestamp

    package init(
        store: any NotificationStore, bell: NotificationBell,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.bell = bell
        self.clock = clock
    }

    /// Has a dead notification tried again, at once. Answers whether it was dead.
    package func retry(_ id: NotificationID) async throws(EventStoreError) -> Bool {
        let isRetried = try await store.retryDeadNotification(id, at: clock())
        if isRetried { bell.ring() }
        return isRetried
    }

    /// Has the purchases granted that were notified before their token was linked.
    package func tokenWasLinked(_ token: AppAccountToken) async throws(EventStoreError) {
        let count = try await store.retryUnclaimedNotifications(of: token, at: clock())
        if count > 0 { bell.ring() }
    }
}
