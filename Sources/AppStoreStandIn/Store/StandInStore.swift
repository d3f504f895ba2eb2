import AppStore
import Base
import EventLoop

/// What the stand-in sells as, and how much of it.
package struct StandInStoreConfiguration: Sendable {
    package var bundleID = "com.nonchalant"
    /// The app's number in the store, which production notifications carry.
    package var appAppleID: Int64 = 1_234_567_890
    /// Where purchases are made that don't say.
    package var environment = "Production"
    /// Beyond it nothing is sold.
    package var transactionsMax = 100_000

    package init() {}
}

/// The stand-in's customers, devices and purchases, without any network.
///
/// It sells any product: which ones there are is the service's business. Everything it signs, it
/// signs with its own authority.
package final class StandInStore: Sendable {
    struct State {
        var sales: [String: Sale] = [:]
        /// Transaction ids by device, oldest first.
        var unfinished: [String: [String]] = [:]
        /// Every transaction of a device, which is a customer.
        var customers: [String: [String]] = [:]
        /// The latest transaction of those that share an original.
        var originals: [String: String] = [:]
        /// Transaction ids by order.
        var orders: [String: [String]] = [:]
        var lastID: Int64
        var lastRevision: Int64 = 0
        /// Faulty chains, made when first asked for.
        var faultyChains: [ChainFault: SigningChain] = [:]

        /// Stores a changed sale as the latest change of all.
        mutating func put(_ sale: Sale) {
            lastRevision += 1
            var sale = sale
            sale.touch(lastRevision)
            sales[sale.transactionID] = sale
        }

        /// Takes a sale out of every list, since it's made anew.
        mutating func forget(_ sale: Sale) {
            unfinished[sale.device]?.removeAll { $0 == sale.transactionID }
            customers[sale.device]?.removeAll { $0 == sale.transactionID }
            if let order = sale.orderID { orders[order]?.removeAll { $0 == sale.transactionID } }
        }
    }

    package let authority: StandInAuthority
    /// With it the service may ask the Server API.
    package let apiKey: StandInAPIKey
    package let notifications: StandInNotifications
    /// What verifyReceipt confirms: receipts of this stand-in's own.
    let receipts: AppReceiptVerifier
    let configuration: StandInStoreConfiguration
    let now: @Sendable () -> Int64
    let state: Lock<State>

    /// - Parameters:
    ///   - monotonic: milliseconds of a clock that never goes back, for waits.
    ///   - now: milliseconds since 1970.
    package init(
        configuration: StandInStoreConfiguration = StandInStoreConfiguration(),
        authority: StandInAuthority? = nil,
        monotonic: @escaping @Sendable () -> Int64 = { EventLoop.now() },
        now: @escaping @Sendable () -> Int64
    ) {
        self.configuration = configuration
        apiKey = StandInAPIKey(bundleID: configuration.bundleID)
        notifications = StandInNotifications(monotonic: monotonic)
        self.now = now
        let authority = authority ?? StandInAuthority(now: now() / 1000)
        self.authority = authority
        receipts = StandInStore.verifier(authority)
        // So that a stand-in that is started again doesn't sell the same ids again.
        state = Lock(State(lastID: now() * 1000))
    }

    /// Sells something. The transaction stays in the device's receipt until it's finished.
    package func purchase(
        _ purchase: StandInPurchase
    ) throws(StandInStoreError) -> StandInSale {
        guard notifications.hasRoom else { throw .full }
        let instant = now()
        let sale = try state.withLock { state throws(StandInStoreError) in
            let sale = try make(purchase, .purchased, at: instant, in: &state)
            state.unfinished[sale.device, default: []].append(sale.transactionID)
            return sale
        }
        return try sold(sale)
    }

    /// Begins a purchase that waits for something, and returns its id. Nobody sees it until it's
    /// approved, and then it's as if it had been made at that moment.
    package func begin(
        _ purchase: StandInPurchase, _ reason: PendingReason
    ) throws(StandInStoreError) -> String {
        let instant = now()
        return try state.withLock { state throws(StandInStoreError) in
            try make(purchase, reason.state, at: instant, in: &state).transactionID
        }
    }

    /// Makes the purchase that waited for `reason`.
    package func approve(
        _ transactionID: String, _ reason: PendingReason = .askToBuy
    ) throws(StandInStoreError) -> StandInSale {
        guard notifications.hasRoom else { throw .full }
        let instant = now()
        let sale = try state.withLock { state throws(StandInStoreError) in
            guard var sale = state.sales[transactionID] else { throw .unknownTransaction }
            guard sale.state == reason.state else { throw .wrongState(sale.state) }
            sale.approve(at: instant)
            state.put(sale)
            state.unfinished[sale.device, default: []].append(transactionID)
            return sale
        }
        return try sold(sale)
    }

    /// Ends a purchase that waits. Nothing is charged.
    package func decline(_ transactionID: String) throws(StandInStoreError) {
        try state.withLock { state throws(StandInStoreError) in
            guard var sale = state.sales[transactionID] else { throw .unknownTransaction }
            guard sale.state == .deferred || sale.state == .interrupted else {
                throw .wrongState(sale.state)
            }
            sale.decline()
            state.put(sale)
        }
    }

    /// Finishes a transaction: the device's next receipt is without it. Again is the same.
    package func finish(_ transactionID: String) throws(StandInStoreError) {
        try state.withLock { state throws(StandInStoreError) in
            var sale = try StandInStore.purchased(transactionID, in: state)
            state.unfinished[sale.device]?.removeAll { $0 == transactionID }
            sale.finish()
            state.sales[transactionID] = sale
        }
    }

    /// The sale with this id, if it was made.
    static func purchased(
        _ transactionID: String, in state: State
    ) throws(StandInStoreError) -> Sale {
        guard let sale = state.sales[transactionID] else { throw .unknownTransaction }
        guard sale.state == .purchased else { throw .wrongState(sale.state) }
        return sale
    }

    private func make(
        _ purchase: StandInPurchase, _ saleState: StandInSaleState, at instant: Int64,
        in state: inout State
    ) throws(StandInStoreError) -> Sale {
        var id = purchase.transactionID
        if id == nil {
            state.lastID += 1
            id = String(state.lastID)
        }
        let transactionID = id ?? ""
        guard
            state.sales[transactionID] != nil
                || state.sales.count < configuration.transactionsMax
        else { throw .full }
        if let earlier = state.sales[transactionID] { state.forget(earlier) }
        let sale = Sale(
            purchase, transactionID: transactionID, bundleID: configuration.bundleID,
            environment: purchase.environment ?? configuration.environment, state: saleState,
            at: instant)
        state.put(sale)
        state.customers[sale.device, default: []].append(transactionID)
        state.originals[sale.originalTransactionID] = transactionID
        if let order = sale.orderID { state.orders[order, default: []].append(transactionID) }
        return sale
    }

    /// What the app gets for a sale that was just made, of which the service is told as well.
    private func sold(_ sale: Sale) throws(StandInStoreError) -> StandInSale {
        if sale.purchase.notify {
            try send(StandInNotification("ONE_TIME_CHARGE", of: sale.transactionID))
        }
        return StandInSale(
            transactionID: sale.transactionID,
            signedTransaction: sign(sale, fault: sale.purchase.fault),
            snapshot: snapshot(device: sale.device, environment: sale.environment))
    }

    /// The signed transaction of a sale as it is now.
    func sign(_ sale: Sale, fault: PurchaseFault? = nil) -> String {
        sign(.object(sale.payload(signedAt: now())), fault: fault)
    }

    /// Signs whatever it is, as it should be or with a fault.
    func sign(_ payload: JSON, fault: PurchaseFault?) -> String {
        switch fault {
        case nil, .wrongBundle:
            return authority.chain.sign(payload)
        case .wrongSignature:
            var chain = authority.chain
            chain.key = SigningKey(.p256)
            return chain.sign(payload)
        case .chain(let fault):
            return chain(with: fault).sign(payload)
        }
    }

    private func chain(with fault: ChainFault) -> SigningChain {
        if let chain = state.withLock({ $0.faultyChains[fault] }) { return chain }
        let chain = authority.chain(with: fault)
        state.withLock { $0.faultyChains[fault] = chain }
        return chain
    }
}
