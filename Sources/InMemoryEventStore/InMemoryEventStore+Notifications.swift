package import CoinLedger
package import EventStore

extension InMemoryEventStore: NotificationStore {
    package func record(_ notification: ReceivedNotification) throws(EventStoreError) -> Bool {
        guard index(notification.id) == nil else { return false }
        lastNotificationNumber += 1
        notifications.append(
            KeptNotification(
                number: lastNotificationNumber, received: notification, state: .pending,
                attempts: 0, nextAttemptAt: notification.receivedAt, outcome: nil, detail: nil,
                endedAt: nil))
        return true
    }

    package func claimNotifications(
        due time: Timestamp, leaseEnd: Timestamp, limit: Int
    ) throws(EventStoreError) -> [KeptNotification] {
        let due = notifications.indices.filter {
            notifications[$0].state == .pending && notifications[$0].nextAttemptAt <= time
        }
        let first = due.sorted {
            notifications[$0].received.signedAt < notifications[$1].received.signedAt
        }.prefix(limit)
        return first.map { index in
            let claimed = notifications[index].with(
                attempts: notifications[index].attempts + 1, nextAttemptAt: leaseEnd)
            notifications[index] = claimed
            return claimed
        }
    }

    package func end(
        _ id: NotificationID, _ ending: NotificationEnding, at time: Timestamp
    ) throws(EventStoreError) {
        guard let index = pending(id) else { return }
        notifications[index] = notifications[index].ended(ending, at: time)
    }

    package func endUnclaimed(
        _ id: NotificationID, at time: Timestamp
    ) throws(EventStoreError) -> Bool {
        guard let index = pending(id) else { return false }
        let token = notifications[index].received.transaction?.appAccountToken
        if let token, tokenOwners[token] != nil {
            notifications[index] = notifications[index].with(nextAttemptAt: time)
            return false
        }
        notifications[index] = notifications[index].ended(
            .done(NotificationEnding.unclaimed), at: time)
        return true
    }

    package func postpone(
        _ id: NotificationID, until time: Timestamp, detail: String?
    ) throws(EventStoreError) {
        guard let index = pending(id) else { return }
        notifications[index] = notifications[index].with(nextAttemptAt: time, detail: detail)
    }

    package func retryDeadNotification(
        _ id: NotificationID, at time: Timestamp
    ) throws(EventStoreError) -> Bool {
        guard let index = index(id), notifications[index].state == .dead else { return false }
        notifications[index] = notifications[index].retried(at: time)
        return true
    }

    package func retryUnclaimedNotifications(
        of token: AppAccountToken, at time: Timestamp
    ) throws(EventStoreError) -> Int {
        let unclaimed = notifications.indices.filter {
            notifications[$0].outcome == NotificationEnding.unclaimed
                && notifications[$0].received.transaction?.appAccountToken == token
        }
        for index in unclaimed { notifications[index] = notifications[index].retried(at: time) }
        return unclaimed.count
    }

    package func notification(_ id: NotificationID) throws(EventStoreError) -> KeptNotification? {
        index(id).map { notifications[$0] }
    }

    package func notifications(
        in state: NotificationState, after number: Int64, limit: Int
    ) throws(EventStoreError) -> [KeptNotification] {
        Array(notifications.lazy.filter { $0.state == state && $0.number > number }.prefix(limit))
    }

    package func notifications(
        of transaction: TransactionID, limit: Int
    ) throws(EventStoreError) -> [KeptNotification] {
        let found = notifications.lazy.filter { kept in
            guard let notified = kept.received.transaction else { return false }
            return notified.id == transaction || notified.originalID == transaction
        }
        return Array(found.prefix(limit))
    }

    package func forgetNotifications(
        doneBefore time: Timestamp, limit: Int
    ) throws(EventStoreError) -> Int {
        let old = notifications.filter { kept in
            kept.state == .done && kept.outcome != NotificationEnding.unclaimed
                && kept.endedAt.map { $0 < time } ?? false
        }
        let forgotten = Set(
            old.sorted { ($0.endedAt ?? time) < ($1.endedAt ?? time) }.prefix(limit).map(\.id))
        notifications.removeAll { forgotten.contains($0.id) }
        return forgotten.count
    }

    package func owner(of token: AppAccountToken) throws(EventStoreError) -> AccountID? {
        tokenOwners[token]
    }

    private func index(_ id: NotificationID) -> Int? {
        notifications.firstIndex { $0.id == id }
    }

    private func pending(_ id: NotificationID) -> Int? {
        index(id).flatMap { notifications[$0].state == .pending ? $0 : nil }
    }
}

extension KeptNotification {
    fileprivate func with(
        attempts: Int64? = nil, nextAttemptAt: Timestamp, detail: String? = nil
    ) -> KeptNotification {
        KeptNotification(
            number: number, received: received, state: state,
            attempts: attempts ?? self.attempts, nextAttemptAt: nextAttemptAt, outcome: outcome,
            detail: detail ?? self.detail, endedAt: endedAt)
    }

    fileprivate func ended(_ ending: NotificationEnding, at time: Timestamp) -> KeptNotification {
        KeptNotification(
            number: number, received: received, state: ending.state, attempts: attempts,
            nextAttemptAt: nextAttemptAt, outcome: ending.outcome, detail: ending.detail ?? detail,
            endedAt: time)
    }

    fileprivate func retried(at time: Timestamp) -> KeptNotification {
        KeptNotification(
            number: number, received: received, state: .pending, attempts: 0, nextAttemptAt: time,
            outcome: nil, detail: detail, endedAt: nil)
    }
}
