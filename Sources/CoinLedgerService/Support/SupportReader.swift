package import CoinLedger
package import EventStore

/// Answers "charged, but no coins": finds what became of purchases, from whatever the customer can
/// tell.
package struct SupportReader: Sendable {
    package typealias Store = EventStore & AttemptStore & NotificationStore

    private let store: any Store
    private let purchases: PurchaseReader

    /// Purchases in one answer.
    package static let purchasesMax = 20
    /// Events of an account that are looked through.
    private static let eventsMax = 5000
    private static let pageSize = 500

    package init(store: any Store) {
        self.store = store
        purchases = PurchaseReader(store: store)
    }

    package struct Answer: Sendable {
        package var purchases: [SupportPurchase]
        /// Whether there may be more of them.
        package var isTruncated: Bool
    }

    /// What became of the transaction: one entry for each environment that something is known of, at
    /// least one.
    ///
    /// - Parameter asker: the account that misses it, if that's known.
    package func purchases(
        named id: TransactionID, asker: AccountID?
    ) async throws(EventStoreError) -> Answer {
        Answer(purchases: try await find(id, asker: asker), isTruncated: false)
    }

    /// What became of each purchase of an order.
    ///
    /// - Parameter event: the one that says what the order holds.
    package func purchases(
        of order: OrderRecorded, recordedBy event: StoredEvent, asker: AccountID?
    ) async throws(EventStoreError) -> Answer {
        var answer = Answer(
            purchases: [], isTruncated: order.purchases.count > SupportReader.purchasesMax)
        for ordered in order.purchases.prefix(SupportReader.purchasesMax) {
            answer.purchases += try await find(
                ordered.key.transactionID, asker: asker, ordered: (ordered, event))
        }
        return answer
    }

    /// What an account has bought, posted or got in a time, by the store's date or ours; one entry
    /// that says so if nothing.
    package func purchases(
        of account: AccountID, where filter: AttemptFilter
    ) async throws(EventStoreError) -> Answer {
        let max = SupportReader.purchasesMax
        var (ids, isTruncated) = try await granted(account, filter)
        let attempts = try await store.attempts(of: account, where: filter, limit: max + 1)
        isTruncated = isTruncated || attempts.count > max
        var answer = Answer(purchases: [], isTruncated: false)
        for attempt in attempts.prefix(max) {
            if let id = attempt.purchase?.transactionID {
                if !ids.contains(id) { ids.append(id) }
            } else {
                answer.purchases.append(purchase(attempt))
            }
        }
        for id in ids.prefix(max) {
            answer.purchases += try await find(id, asker: account)
        }
        if answer.purchases.isEmpty { answer.purchases = [nothing(account, filter)] }
        answer.isTruncated =
            isTruncated || ids.count > max || answer.purchases.count > max
        answer.purchases = Array(answer.purchases.prefix(max))
        return answer
    }

    /// The transactions that were granted to the account, by the store's date or ours.
    private func granted(
        _ account: AccountID, _ filter: AttemptFilter
    ) async throws(EventStoreError) -> (ids: [TransactionID], isTruncated: Bool) {
        var events = EventFilter()
        events.types = [EventCodec.EventType.purchaseRecorded.rawValue]
        // Nothing is recorded before it's bought.
        events.from = filter.from
        var ids: [TransactionID] = []
        var seen = 0
        var version: Int64 = 0
        while seen < SupportReader.eventsMax {
            let page = try await store.events(
                of: account, after: version, limit: SupportReader.pageSize, where: events)
            for stored in page {
                guard case .purchaseRecorded(let recorded) = try stored.decoded() else { continue }
                if filter.contains(recorded.purchase, recordedAt: stored.recordedAt) {
                    ids.append(recorded.purchase.key.transactionID)
                }
            }
            seen += page.count
            guard let last = page.last, page.count == SupportReader.pageSize else {
                return (ids, false)
            }
            version = last.version
        }
        return (ids, true)
    }

    private func find(
        _ id: TransactionID, asker: AccountID?,
        ordered: (purchase: OrderedPurchase, event: StoredEvent)? = nil
    ) async throws(EventStoreError) -> [SupportPurchase] {
        let max = SupportPurchase.Evidence.countMax
        let attempts = try await store.attempts(of: id, limit: max + 1)
        let notifications = try await store.notifications(of: id, limit: max + 1)
        let keys = Environment.allCases.map {
            PurchaseKey(store: .appStore, environment: $0, transactionID: id)
        }
        let claims = try await store.claims(on: keys)
        let known = keys.filter { key in
            claims.granted[key] != nil || claims.remembered[key] != nil
                || attempts.contains { $0.purchase?.environment == key.environment }
                || notifications.contains { $0.received.environment == key.environment }
                || ordered?.purchase.key == key
        }
        var found: [SupportPurchase] = []
        for key in known.isEmpty ? [nil] : known.map(Optional.some) {
            var evidence = SupportPurchase.Evidence()
            evidence.attempts = attempts.prefix(max).filter {
                key == nil || $0.purchase?.environment == nil
                    || $0.purchase?.environment == key?.environment
            }
            evidence.notifications = notifications.prefix(max).filter {
                $0.received.environment == key?.environment
            }
            evidence.isTruncated = attempts.count > max || notifications.count > max
            if let ordered { evidence.events.append(ordered.event) }
            let purchase = try await purchase(id, key, evidence, asker, ordered?.purchase)
            found.append(purchase)
        }
        return found
    }

    private func purchase(
        _ id: TransactionID, _ key: PurchaseKey?, _ evidence: SupportPurchase.Evidence,
        _ asker: AccountID?, _ ordered: OrderedPurchase?
    ) async throws(EventStoreError) -> SupportPurchase {
        var evidence = evidence
        var found: PurchaseReader.Found?
        if let key { found = try await purchases.find(key) }
        var bought: Purchase?
        switch found {
        case .granted(let granted):
            bought = granted.purchase.purchase
            try await add(granted, to: &evidence)
        case .remembered(let word):
            if let event = try await store.event(word.event) { evidence.events.append(event) }
        case nil: break
        }
        let judgement = SupportJudgement(found, evidence, asker: asker)
        let attempted = evidence.attempts.lazy.compactMap(\.purchase)
        let notified = evidence.notifications.lazy.compactMap(\.received.transaction)
        return SupportPurchase(
            status: judgement.status, transactionID: bought?.key.transactionID ?? id,
            environment: key?.environment,
            productID: bought?.productID ?? ordered?.productID ?? notified.first?.productID
                ?? attempted.compactMap(\.productID).first,
            account: judgement.account,
            purchasedAt: bought?.purchasedAt ?? ordered?.purchasedAt
                ?? attempted.compactMap(\.purchasedAt).first,
            refusal: judgement.refusal, evidence: evidence, nextStep: judgement.nextStep)
    }

    /// Adds what the ledger has recorded of a purchase.
    private func add(
        _ granted: PurchaseReader.Granted, to evidence: inout SupportPurchase.Evidence
    ) async throws(EventStoreError) {
        let account = granted.claim.account
        evidence.events += try await store.events(
            of: account, after: granted.grantVersion - 2, limit: 2, where: .all)
        guard granted.refund != nil else { return }
        var filter = EventFilter()
        filter.types = [EventCodec.EventType.purchaseRefunded, .refundReversed, .debtPaid].map(
            \.rawValue)
        let page = try await store.events(
            of: account, after: granted.grantVersion, limit: SupportReader.pageSize, where: filter)
        for stored in page
        where try stored.decoded().refundedPurchase == granted.purchase.purchase.key {
            guard evidence.events.count < SupportPurchase.Evidence.countMax else {
                evidence.isTruncated = true
                return
            }
            evidence.events.append(stored)
        }
        if page.count == SupportReader.pageSize { evidence.isTruncated = true }
    }

    /// An attempt of which nobody knows what was bought.
    private func purchase(_ attempt: KeptAttempt) -> SupportPurchase {
        var evidence = SupportPurchase.Evidence()
        evidence.attempts = [attempt]
        let judgement = SupportJudgement(nil, evidence, asker: nil)
        return SupportPurchase(
            status: judgement.status, transactionID: nil, environment: nil, productID: nil,
            account: attempt.account, purchasedAt: nil, refusal: judgement.refusal,
            evidence: evidence, nextStep: judgement.nextStep)
    }

    private func nothing(_ account: AccountID, _ filter: AttemptFilter) -> SupportPurchase {
        SupportPurchase(
            status: .neverReceived, transactionID: nil, environment: nil,
            productID: filter.productID, account: account, purchasedAt: nil, refusal: nil,
            evidence: SupportPurchase.Evidence(), nextStep: .askForOrderID)
    }
}

extension AttemptFilter {
    fileprivate func contains(_ purchase: Purchase, recordedAt: Timestamp) -> Bool {
        guard productID == nil || productID == purchase.productID else { return false }
        return [purchase.purchasedAt, recordedAt].contains { $0 >= from && $0 < until }
    }
}

extension Event {
    /// The purchase whose refund it is about.
    fileprivate var refundedPurchase: PurchaseKey? {
        switch self {
        case .purchaseRefunded(let event): event.purchase
        case .refundReversed(let event): event.purchase
        case .debtPaid(let event): event.purchase
        case .purchaseRecorded, .coinsGranted, .appAccountTokenLinked, .coinsSpent, .spendReversed,
            .coinsExpired, .coinsAdjusted, .coinsHeld, .holdReleased, .refundRemembered,
            .consentRecorded, .orderRecorded:
            nil
        }
    }
}
