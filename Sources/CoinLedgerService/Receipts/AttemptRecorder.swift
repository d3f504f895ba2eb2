import AppStore
import Base
import CoinLedger
package import EventStore
package import Telemetry

/// Keeps posts that granted nothing where the support desk finds them.
///
/// Nobody vouches for most of them, so that only some are written at once; what comes on top is
/// counted and forgotten.
package final class AttemptRecorder: Sendable {
    private let store: any AttemptStore
    private let keepsReceipts: Bool
    private let notKept: Counter
    private let log: Log
    private let writes = Lock(0)

    /// Posts that prove nothing and are being written.
    package static let unprovenWritesMax = 64
    /// A longer receipt isn't kept.
    package static let receiptBytesMax = 256 << 10

    /// - Parameter keepsReceipts: whether receipts are kept themselves, and not their hashes alone.
    package init(store: any AttemptStore, keepsReceipts: Bool, metrics: Metrics, log: Log) {
        self.store = store
        self.keepsReceipts = keepsReceipts
        self.log = log
        notKept = metrics.counter(
            "coinledger_attempts_not_kept_total",
            help: "Posts that granted nothing, and that the support desk won't find.")
    }

    /// Keeps which of the purchases in a verified receipt weren't granted, if there are such.
    ///
    /// - Throws: if they couldn't be kept.
    func keep(
        _ results: [(StoreTransaction, TransactionOutcome)], of receipt: String,
        for account: AccountID, at time: Timestamp
    ) async throws(EventStoreError) {
        let refusals = results.compactMap { transaction, outcome in
            FailedPost.Refusal(transaction, outcome)
        }
        guard !refusals.isEmpty else { return }
        do throws(EventStoreError) {
            try await store.record(post(refusals, false, receipt, account, time))
        } catch {
            notKept.increment()
            log.error("attempt not kept", ["error": "\(error)"])
            throw error
        }
    }

    /// Keeps why nothing in a receipt could be looked at, as far as there is room.
    ///
    /// - Parameter claims: what the receipt says all the same.
    func keep(
        _ error: ReceiptError, of receipt: String, for account: AccountID, at time: Timestamp,
        claims: () async -> [ClaimedTransaction]
    ) async {
        guard let code = error.attemptCode else { return }
        guard mayWrite() else { return notKept.increment() }
        defer { writes.withLock { $0 -= 1 } }
        let claimed = await claims().compactMap { AttemptedPurchase($0) }
        let refusals =
            claimed.isEmpty
            ? [FailedPost.Refusal(code: code, purchase: nil)]
            : claimed.map { FailedPost.Refusal(code: code, purchase: $0) }
        do throws(EventStoreError) {
            // A receipt that holds nothing was believed all the same.
            let isClaimed = error != .noTransaction
            try await store.record(post(refusals, isClaimed, receipt, account, time))
        } catch {
            notKept.increment()
            log.warning("attempt not kept", ["error": "\(error)"])
        }
    }

    private func mayWrite() -> Bool {
        writes.withLock { writes in
            guard writes < AttemptRecorder.unprovenWritesMax else { return false }
            writes += 1
            return true
        }
    }

    private func post(
        _ refusals: [FailedPost.Refusal], _ isClaimed: Bool, _ receipt: String,
        _ account: AccountID, _ time: Timestamp
    ) -> FailedPost {
        let bytes = Array(receipt.utf8)
        let isKept = keepsReceipts && bytes.count <= AttemptRecorder.receiptBytesMax
        return FailedPost(
            account: account, isClaimed: isClaimed, receiptSHA256: Digest.sha256(bytes),
            receipt: isKept ? bytes : nil, time: time, refusals: refusals)
    }
}

extension FailedPost.Refusal {
    /// Nil for what the account has, now or since an earlier post.
    fileprivate init?(_ transaction: StoreTransaction, _ outcome: TransactionOutcome) {
        switch outcome {
        case .granted, .alreadyGranted: return nil
        case .grantedToOtherAccount, .belongsToOtherAccount, .refused: break
        }
        self.init(code: outcome.code, purchase: AttemptedPurchase(transaction))
    }
}

extension AttemptedPurchase {
    fileprivate init?(_ transaction: StoreTransaction) {
        guard let id = TransactionID(transaction.transactionID) else { return nil }
        self.init(
            transactionID: id, environment: Environment(rawValue: transaction.environment.text),
            productID: transaction.productID,
            purchasedAt: Timestamp(milliseconds: transaction.purchaseDate))
    }

    fileprivate init?(_ claimed: ClaimedTransaction) {
        guard let id = TransactionID(claimed.transactionID) else { return nil }
        self.init(
            transactionID: id,
            environment: claimed.environment.flatMap { Environment(rawValue: $0.text) },
            productID: claimed.productID,
            purchasedAt: claimed.purchaseDate.flatMap(Timestamp.init(milliseconds:)))
    }
}

extension ReceiptError {
    /// The code under which an attempt is kept; nil where it failed for reasons of our own.
    fileprivate var attemptCode: String? {
        switch self {
        case .wrongShape(let code, _), .notTrusted(let code, _): code
        case .rejectedByStore: "rejected_by_store"
        case .noTransaction: "transaction_not_in_receipt"
        case .storeUnavailable: "store_unavailable"
        case .certificateRevoked: "certificate_revoked"
        case .revocationUnknown: "revocation_unknown"
        case .overloaded, .ledgerUnavailable: nil
        }
    }
}
