import CoinLedger
import EventStore

/// Knows at most one key, and fails at everything else.
struct FailingStore: EventStore, APIKeyStore, AttemptStore {
    let error: EventStoreError
    let key: APIKey?
    let laneCount: Int64 = 1

    func load(_: LoadRequest) throws(EventStoreError) -> Loaded { throw error }
    func states(
        of _: [AccountID], withLots _: Bool
    ) throws(EventStoreError) -> [AccountID: Account] { throw error }
    func append(_: Batch) throws(EventStoreError) { throw error }

    func balances(
        of _: [AccountID], at _: Timestamp
    ) throws(EventStoreError) -> [AccountID: AccountBalance] { throw error }

    func account(_: AccountID) throws(EventStoreError) -> Account? { throw error }
    func claims(on _: [PurchaseKey]) throws(EventStoreError) -> PurchaseClaims { throw error }
    func event(_: EventID) throws(EventStoreError) -> StoredEvent? { throw error }
    func order(_: OrderID) throws(EventStoreError) -> StoredEvent? { throw error }

    func events(
        of _: AccountID, after _: Int64, limit _: Int, where _: EventFilter
    ) throws(EventStoreError) -> [StoredEvent] { throw error }

    func events(
        in _: Lane, after _: Int64, limit _: Int
    ) throws(EventStoreError) -> [StoredEvent] { throw error }

    func lots(
        of _: AccountID, after _: Int64, limit _: Int, openOnly _: Bool
    ) throws(EventStoreError) -> [StoredLot] { throw error }

    func lots(
        in _: Lane, after _: LotID?, limit _: Int
    ) throws(EventStoreError) -> [StoredLot] { throw error }

    func accountsWithExpiredLots(
        in _: Lane, at _: Timestamp, limit _: Int
    ) throws(EventStoreError) -> [AccountID] { throw error }

    func takeTurn(in _: Lane) throws(EventStoreError) { throw error }
    func endTurn(in _: Lane) throws(EventStoreError) { throw error }
    func heads() throws(EventStoreError) -> [Lane: Int64] { throw error }

    func accounts(
        in _: Lane, after _: AccountID?, limit _: Int
    ) throws(EventStoreError) -> [(id: AccountID, account: Account)] { throw error }

    func forgetAnswers(
        recordedBefore _: Timestamp, limit _: Int
    ) throws(EventStoreError) -> Int { throw error }

    func apiKeys() throws(EventStoreError) -> [APIKey] {
        guard let key else { throw error }
        return [key]
    }

    func create(_: APIKey) throws(EventStoreError) { throw error }

    func record(_: FailedPost) throws(EventStoreError) { throw error }

    func attempts(
        of _: TransactionID, limit _: Int
    ) throws(EventStoreError) -> [KeptAttempt] { throw error }

    func attempts(
        of _: AccountID, where _: AttemptFilter, limit _: Int
    ) throws(EventStoreError) -> [KeptAttempt] { throw error }

    func forgetAttempts(
        before _: Timestamp, limit _: Int
    ) throws(EventStoreError) -> Int { throw error }

    func revokeAPIKey(_: String, at _: Timestamp) throws(EventStoreError) -> Bool { throw error }
}

extension FailingStore: NotificationStore {
    func record(_: ReceivedNotification) throws(EventStoreError) -> Bool { throw error }

    func claimNotifications(
        due _: Timestamp, leaseEnd _: Timestamp, limit _: Int
    ) throws(EventStoreError) -> [KeptNotification] { throw error }

    func end(
        _: NotificationID, _: NotificationEnding, at _: Timestamp
    ) throws(EventStoreError) { throw error }

    func endUnclaimed(_: NotificationID, at _: Timestamp) throws(EventStoreError) -> Bool {
        throw error
    }

    func postpone(
        _: NotificationID, until _: Timestamp, detail _: String?
    ) throws(EventStoreError) { throw error }

    func retryDeadNotification(
        _: NotificationID, at _: Timestamp
    ) throws(EventStoreError) -> Bool { throw error }

    func retryUnclaimedNotifications(
        of _: AppAccountToken, at _: Timestamp
    ) throws(EventStoreError) -> Int { throw error }

    func notification(_: NotificationID) throws(EventStoreError) -> KeptNotification? {
        throw error
    }

    func notifications(
        in _: NotificationState, after _: Int64, limit _: Int
    ) throws(EventStoreError) -> [KeptNotification] { throw error }

    func notifications(
        of _: TransactionID, limit _: Int
    ) throws(EventStoreError) -> [KeptNotification] { throw error }

    func forgetNotifications(
        doneBefore _: Timestamp, limit _: Int
    ) throws(EventStoreError) -> Int { throw error }

    func owner(of _: AppAccountToken) throws(EventStoreError) -> AccountID? { throw error }
}
