package import CoinLedger
package import EventStore
package import Telemetry

/// Turns a submitted receipt into coins: verify, grant, keep what was refused.
package struct ReceiptService: Sendable {
    private let granter: PurchaseGranter
    private let store: any EventStore
    private let verification: ReceiptVerification
    private let clock: @Sendable () -> Timestamp
    private let telemetry: ReceiptTelemetry
    private let log: Log

    /// - Parameter store: keeps what isn't granted.
    package init(
        granter: PurchaseGranter, store: any EventStore, verification: ReceiptVerification,
        clock: @escaping @Sendable () -> Timestamp, telemetry: ReceiptTelemetry, log: Log
    ) {
        self.granter = granter
        self.store = store
        self.verification = verification
        self.clock = clock
        self.telemetry = telemetry
        self.log = log
    }

    /// Grants every purchase in `receipt` to `account` that hasn't been granted before.
    ///
    /// - Throws: `ReceiptError` if no purchase in it could be looked at; nothing was granted then.
    package func submit(
        _ receipt: String, for account: AccountID
    ) async throws(ReceiptError) -> ReceiptResult {
        let now = clock()
        let transactions = try await verification.verify(receipt, now: now)
        guard !transactions.isEmpty else { throw .noTransaction }
        let result: ReceiptResult
        do throws(WriterError) {
            result = try await granter.grant(transactions, to: account)
        } catch {
            switch error {
            case .overloaded: throw .overloaded
            case .unavailable: throw .ledgerUnavailable
            }
        }
        try await keep(result.transactions, account, now)
        return result
    }

    /// Counts every outcome, and keeps refusals where the support desk finds them.
    private func keep(
        _ results: [TransactionResult], _ account: AccountID, _ now: Timestamp
    ) async throws(ReceiptError) {
        for result in results {
            telemetry.outcomes.increment(result.outcome.code)
            guard let refusal = PurchaseRefusal(result, account, now) else { continue }
            log.warning(
                "purchase refused",
                [
                    "receipt.outcome": refusal.code, "product.id": refusal.productID,
                    "transaction.id": refusal.key.transactionID, "account.id": account,
                ])
            do throws(EventStoreError) {
                try await store.record(refusal)
            } catch {
                log.error("refusal not kept", ["error": "\(error)"])
                throw .ledgerUnavailable
            }
        }
    }
}

extension PurchaseRefusal {
    /// Nil for what was granted, and for what can't be named as a purchase of one of our apps.
    fileprivate init?(_ result: TransactionResult, _ account: AccountID, _ now: Timestamp) {
        switch result.outcome {
        case .granted, .alreadyGranted, .grantedToOtherAccount, .refused(.wrongApp): return nil
        case .belongsToOtherAccount, .refused: break
        }
        guard let environment = Environment(rawValue: result.environment),
            let transactionID = TransactionID(result.transactionID)
        else { return nil }
        let key = PurchaseKey(
            store: .appStore, environment: environment, transactionID: transactionID)
        self.init(
            account: account, key: key, productID: result.productID, code: result.outcome.code,
            time: now)
    }
}
