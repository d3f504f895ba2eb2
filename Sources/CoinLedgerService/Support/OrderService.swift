import AppStore
import AppStoreConnection
package import CoinLedger
package import EventStore
package import Telemetry

/// Tells what an order of the store holds. The store is asked once for each; its answer is an event.
package struct OrderService: Sendable {
    private let ledger: Ledger
    private let store: StoreLookup?
    private let verification: ReceiptVerification
    private let clock: @Sendable () -> Timestamp
    private let log: Log

    /// Purchases of one order that are kept.
    package static let purchasesMax = 100

    /// - Parameter store: nil where the App Store Server API can't be asked.
    package init(
        ledger: Ledger, store: StoreLookup?, verification: ReceiptVerification,
        clock: @escaping @Sendable () -> Timestamp, log: Log
    ) {
        self.ledger = ledger
        self.store = store
        self.verification = verification
        self.clock = clock
        self.log = log
    }

    /// An order, and the event that says what it holds.
    package struct Order: Sendable {
        package let order: OrderRecorded
        package let event: StoredEvent
    }

    /// - Returns: nil if the store has no such order.
    package func find(_ id: OrderID) async throws(StoreLookup.Failure) -> Order? {
        if let known = try await known(id) { return known }
        guard let store else { throw .notConfigured }
        let answer: OrderLookup
        do throws(AppStoreServerError) {
            answer = try await store.order(id.text)
        } catch {
            // Some ids aren't even looked for.
            if case .notFound = error { return nil }
            log.warning(
                "order not looked up",
                ["order.id": id, "store.error": error.code, "error": "\(error)"])
            throw StoreLookup.Failure(error)
        }
        // It may be an order tomorrow.
        guard answer.isValid else { return nil }
        var purchases: [OrderedPurchase] = []
        for signed in answer.signedTransactions.prefix(OrderService.purchasesMax) {
            let transaction = try await verification.verifyAnswer(signed, now: clock())
            guard let purchase = OrderedPurchase(transaction) else {
                throw .notTrusted(code: PurchaseRefusalReason.malformed.rawValue)
            }
            purchases.append(purchase)
        }
        try await record(OrderRecorded(id: id, purchases: purchases))
        log.info("order looked up", ["order.id": id, "order.purchases": purchases.count])
        return try await known(id)
    }

    private func known(_ id: OrderID) async throws(StoreLookup.Failure) -> Order? {
        do throws(EventStoreError) {
            guard let event = try await ledger.store.order(id) else { return nil }
            guard case .orderRecorded(let order) = try event.decoded() else {
                throw .corrupt("event \(event.id) says nothing of order \(id)")
            }
            return Order(order: order, event: event)
        } catch {
            log.error("order not read", ["error": "\(error)"])
            throw .ledgerUnavailable
        }
    }

    /// Somebody else may have done so meanwhile, which is as well.
    private func record(_ order: OrderRecorded) async throws(StoreLookup.Failure) {
        let command = Command(
            id: .random(), account: .unclaimed, time: clock(), action: .recordOrder(order))
        do throws(WriterError) {
            _ = try await ledger.submit([command], of: .unclaimed)
        } catch {
            switch error {
            case .overloaded: throw .overloaded
            case .unavailable: throw .ledgerUnavailable
            }
        }
    }
}

extension OrderedPurchase {
    /// Nil if it's from neither production nor the sandbox, or can't be kept.
    fileprivate init?(_ transaction: StoreTransaction) {
        guard let id = TransactionID(transaction.transactionID),
            let environment = Environment(rawValue: transaction.environment.text),
            let purchasedAt = Timestamp(milliseconds: transaction.purchaseDate)
        else { return nil }
        self.init(
            key: PurchaseKey(store: .appStore, environment: environment, transactionID: id),
            productID: transaction.productID, purchasedAt: purchasedAt)
    }
}
