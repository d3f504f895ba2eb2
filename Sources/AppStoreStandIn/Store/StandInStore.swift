import AppStore
package import Base

/// What the stand-in sells as, and how much of it.
package struct StandInStoreConfiguration: Sendable {
    package var bundleID = "com.nonchalant"
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
    private struct State {
        var sales: [String: Sale] = [:]
        /// Transaction ids by device, oldest first.
        var unfinished: [String: [String]] = [:]
        var lastID: Int64
        /// Faulty chains, made when first asked for.
        var faultyChains: [ChainFault: SigningChain] = [:]
    }

    package let authority: StandInAuthority
    private let configuration: StandInStoreConfiguration
    /// What verifyReceipt confirms: receipts of this stand-in's own.
    private let receipts: AppReceiptVerifier
    private let now: @Sendable () -> Int64
    private let state: Lock<State>

    /// - Parameter now: milliseconds since 1970.
    package init(
        configuration: StandInStoreConfiguration = StandInStoreConfiguration(),
        authority: StandInAuthority? = nil, now: @escaping @Sendable () -> Int64
    ) {
        self.configuration = configuration
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
        let instant = now()
        let sale = try state.withLock { state throws(StandInStoreError) in
            try add(purchase, at: instant, to: &state)
        }
        return StandInSale(
            transactionID: sale.transactionID,
            signedTransaction: sign(sale, fault: purchase.fault),
            receipt: receipt(device: sale.device, environment: sale.environment))
    }

    /// Finishes a transaction: the device's next receipt is without it. Again is the same.
    package func finish(_ transactionID: String) throws(StandInStoreError) {
        try state.withLock { state throws(StandInStoreError) in
            guard let sale = state.sales[transactionID] else { throw .unknownTransaction }
            state.unfinished[sale.device]?.removeAll { $0 == transactionID }
        }
    }

    /// The app receipt of a device as it is now, with what it hasn't finished in `environment`.
    package func receipt(
        device: String = "default", environment: String? = nil, form: ReceiptForm = ReceiptForm()
    ) -> String {
        let environment = environment ?? configuration.environment
        let entries = state.withLock { state in
            (state.unfinished[device] ?? []).compactMap { state.sales[$0] }
                .filter { $0.environment == environment }
        }
        // A receipt is of one app; a purchase with the wrong one makes the whole receipt wrong.
        let bundleID = entries.last?.bundleID ?? configuration.bundleID
        return StandInReceipt(
            environment: environment, bundleID: bundleID, createdAt: now(),
            entries: entries.map { $0.receiptEntry() }
        ).encoded(by: authority.receipts, form)
    }

    /// What the endpoint of `environment` says of a receipt: the body of Apple's answer.
    package func verifyReceipt(_ receipt: String, environment: String) -> JSON {
        guard let bytes = Base64.decode(receipt) else { return ["status": 21002] }
        do throws(AppReceiptError) {
            let receipt = try receipts.verify(bytes, now: now())
            guard receipt.environment.text == environment else {
                return ["status": environment == "Production" ? 21007 : 21008]
            }
            return StandInReceipt.answer(receipt, requestedAt: now()) { id in
                state.withLock { $0.sales[id] }?.receiptEntry()
            }
        } catch {
            return ["status": error == .malformed ? 21002 : 21003]
        }
    }

    private static func verifier(_ authority: StandInAuthority) -> AppReceiptVerifier {
        do throws(RootCertificateError) {
            return AppReceiptVerifier(
                roots: try RootCertificates(
                    files: [authority.receipts.root.der], allowPrivate: true))
        } catch {
            preconditionFailure("the stand-in's root is a certificate")
        }
    }

    private func add(
        _ purchase: StandInPurchase, at instant: Int64, to state: inout State
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
        if let earlier = state.sales[transactionID] {
            state.unfinished[earlier.device]?.removeAll { $0 == transactionID }
        }
        let sale = Sale(
            purchase, transactionID: transactionID, bundleID: configuration.bundleID,
            environment: purchase.environment ?? configuration.environment, at: instant)
        state.sales[transactionID] = sale
        state.unfinished[sale.device, default: []].append(transactionID)
        return sale
    }

    private func sign(_ sale: Sale, fault: PurchaseFault?) -> String {
        let payload = sale.payload(signedAt: now())
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
