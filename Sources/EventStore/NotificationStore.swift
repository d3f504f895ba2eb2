package import CoinLedger

/// The store's notifications, from their receipt until what they say is done: a queue that outlives
/// the service, and afterwards what the support desk looks them up in.
package protocol NotificationStore: Sendable {
    /// Keeps a notification, unless one of that name is kept already. Answers whether it's new.
    func record(_ notification: ReceivedNotification) async throws(EventStoreError) -> Bool

    /// Takes up to `limit` pending notifications that are due, those first that were signed first,
    /// so that nobody else takes them before `leaseEnd`. Each has been attempted once more then.
    func claimNotifications(
        due time: Timestamp, leaseEnd: Timestamp, limit: Int
    ) async throws(EventStoreError) -> [KeptNotification]

    /// Ends a pending notification. One that has ended stays as it is.
    func end(
        _ id: NotificationID, _ ending: NotificationEnding, at time: Timestamp
    ) async throws(EventStoreError)

    /// Ends a pending notification as `unclaimed`, unless its token has an owner by now: then it stays
    /// pending and is due. Answers whether it has ended.
    func endUnclaimed(
        _ id: NotificationID, at time: Timestamp
    ) async throws(EventStoreError) -> Bool

    /// Has a pending notification due at `time`.
    ///
    /// - Parameter detail: what has been done of it, or why it waits; nil leaves what was noted.
    func postpone(
        _ id: NotificationID, until time: Timestamp, detail: String?
    ) async throws(EventStoreError)

    /// Has a dead notification due again, with all its attempts. Answers whether there was such a one.
    func retryDeadNotification(
        _ id: NotificationID, at time: Timestamp
    ) async throws(EventStoreError) -> Bool

    /// Has the unclaimed notifications of a token due again. Answers how many they were.
    func retryUnclaimedNotifications(
        of token: AppAccountToken, at time: Timestamp
    ) async throws(EventStoreError) -> Int

    func notification(
        _ id: NotificationID
    ) async throws(EventStoreError) -> KeptNotification?

    /// Up to `limit` notifications in a state with a number above `number`, in the order of arrival.
    func notifications(
        in state: NotificationState, after number: Int64, limit: Int
    ) async throws(EventStoreError) -> [KeptNotification]

    /// Up to `limit` notifications of a transaction, under either of its ids, in the order of arrival.
    func notifications(
        of transaction: TransactionID, limit: Int
    ) async throws(EventStoreError) -> [KeptNotification]

    /// Forgets up to `limit` notifications that were done before `time`, but none that somebody may
    /// still claim; returns how many they were.
    func forgetNotifications(
        doneBefore time: Timestamp, limit: Int
    ) async throws(EventStoreError) -> Int

    /// Which account a token is linked to; nil if to none.
    func owner(of token: AppAccountToken) async throws(EventStoreError) -> AccountID?
}

/// The store's name of a notification: a UUID, in lower case.
package struct NotificationID: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    package init?(_ text: String) {
        guard let uuid = AppAccountToken(text) else { return nil }
        self.text = uuid.text
    }

    package var description: String { text }
}

/// A verified notification of one of our apps.
package struct ReceivedNotification: Hashable, Sendable {
    package let id: NotificationID
    package let environment: Environment
    /// As the store spells it, such as `REFUND`.
    package let type: String
    package let subtype: String?
    package let signedAt: Timestamp
    package let receivedAt: Timestamp
    package let transaction: NotifiedTransaction?
    /// As it was received, with its signatures.
    package let signedPayload: [UInt8]

    package init(
        id: NotificationID, environment: Environment, type: String, subtype: String?,
        signedAt: Timestamp, receivedAt: Timestamp, transaction: NotifiedTransaction?,
        signedPayload: [UInt8]
    ) {
        self.id = id
        self.environment = environment
        self.type = type
        self.subtype = subtype
        self.signedAt = signedAt
        self.receivedAt = receivedAt
        self.transaction = transaction
        self.signedPayload = signedPayload
    }
}

/// Which transaction a notification is about.
package struct NotifiedTransaction: Hashable, Sendable {
    package let id: TransactionID
    package let originalID: TransactionID
    package let productID: String
    package let appAccountToken: AppAccountToken?

    package init(
        id: TransactionID, originalID: TransactionID, productID: String,
        appAccountToken: AppAccountToken?
    ) {
        self.id = id
        self.originalID = originalID
        self.productID = productID
        self.appAccountToken = appAccountToken
    }
}

/// Where a notification stands.
package enum NotificationState: String, Hashable, Sendable, CaseIterable {
    /// Something is still to be done.
    case pending
    /// Everything it asks for is done, or nothing can be.
    case done
    /// Given up until somebody has it tried again.
    case dead
}

/// How a notification ended.
package struct NotificationEnding: Hashable, Sendable {
    /// `done` or `dead`.
    package let state: NotificationState
    /// A stable code.
    package let outcome: String
    /// A JSON object with what was done; nil leaves what was noted before.
    package let detail: String?

    /// The outcome of a purchase whose owner isn't known.
    package static let unclaimed = "unclaimed"

    package static func done(_ outcome: String, detail: String? = nil) -> NotificationEnding {
        NotificationEnding(state: .done, outcome: outcome, detail: detail)
    }

    package static func dead(_ outcome: String, detail: String? = nil) -> NotificationEnding {
        NotificationEnding(state: .dead, outcome: outcome, detail: detail)
    }
}

/// A notification as it's kept.
package struct KeptNotification: Hashable, Sendable {
    /// In the order of arrival.
    package let number: Int64
    package let received: ReceivedNotification
    package let state: NotificationState
    /// How often it was taken up.
    package let attempts: Int64
    package let nextAttemptAt: Timestamp
    /// Nil while it's pending.
    package let outcome: String?
    package let detail: String?
    /// When it was done or given up.
    package let endedAt: Timestamp?

    package init(
        number: Int64, received: ReceivedNotification, state: NotificationState, attempts: Int64,
        nextAttemptAt: Timestamp, outcome: String?, detail: String?, endedAt: Timestamp?
    ) {
        self.number = number
        self.received = received
        self.state = state
        self.attempts = attempts
        self.nextAttemptAt = nextAttemptAt
        self.outcome = outcome
        self.detail = detail
        self.endedAt = endedAt
    }

    package var id: NotificationID { received.id }
}
