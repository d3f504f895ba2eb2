import AppStore
package import CoinLedger
import EventStore
import Synchronization
package import Telemetry

/// Turns a submitted receipt into coins: verify, grant, keep what wasn't granted.
package struct ReceiptService: Sendable {
    private let granter: PurchaseGranter
    private let attempts: AttemptRecorder
    private let verification: ReceiptVerification
    private let clock: @Sendable () -> Timestamp
    private let telemetry: ReceiptTelemetry
    private let log: Log
    private let underWay = UnderWay()

    /// While fewer receipts than these are under way, known signatures are checked on the caller's loop.
    private static let verifiedAtOnceMax = 64

    package init(
        granter: PurchaseGranter, attempts: AttemptRecorder, verification: ReceiptVerification,
        clock: @escaping @Sendable () -> Timestamp, telemetry: ReceiptTelemetry, log: Log
    ) {
        self.granter = granter
        self.attempts = attempts
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
        let isQuiet = underWay.begin() < ReceiptService.verifiedAtOnceMax
        defer { underWay.end() }
        let now = clock()
        let transactions = try await verified(receipt, account, now, isQuiet)
        var result = try await grant(transactions, to: account)
        do throws(EventStoreError) {
            let outcomes = zip(transactions, result.transactions.map(\.outcome))
            try await attempts.keep(Array(outcomes), of: receipt, for: account, at: now)
        } catch {
            throw .ledgerUnavailable
        }
        try await grantAgain(transactions, to: account, &result)
        for outcome in result.transactions { note(outcome, account) }
        return result
    }

    /// Tries to grant what was refunded once more, now that the refusal is kept. Whoever reverses a
    /// refund looks for that, to grant the purchase to its poster, and may have looked just before.
    private func grantAgain(
        _ transactions: [StoreTransaction], to account: AccountID, _ result: inout ReceiptResult
    ) async throws(ReceiptError) {
        let refunded = result.transactions.indices.filter {
            result.transactions[$0].outcome == .refused(.refunded)
        }
        guard !refunded.isEmpty else { return }
        let again = try await grant(refunded.map { transactions[$0] }, to: account)
        for (index, outcome) in zip(refunded, again.transactions) {
            result.transactions[index] = outcome
        }
        result.balance = again.balance ?? result.balance
    }

    private func grant(
        _ transactions: [StoreTransaction], to account: AccountID
    ) async throws(ReceiptError) -> ReceiptResult {
        do throws(WriterError) {
            return try await granter.grant(transactions, to: account)
        } catch {
            switch error {
            case .overloaded: throw .overloaded
            case .unavailable: throw .ledgerUnavailable
            }
        }
    }

    /// The purchases in a receipt; at least one.
    private func verified(
        _ receipt: String, _ account: AccountID, _ now: Timestamp, _ isQuiet: Bool
    ) async throws(ReceiptError) -> [StoreTransaction] {
        do throws(ReceiptError) {
            let transactions = try await verification.verify(
                receipt, now: now, isQuiet: isQuiet)
            guard !transactions.isEmpty else { throw .noTransaction }
            return transactions
        } catch {
            await attempts.keep(error, of: receipt, for: account, at: now) {
                await verification.claims(in: receipt)
            }
            throw error
        }
    }

    private func note(_ result: TransactionResult, _ account: AccountID) {
        telemetry.outcomes.increment(result.outcome.code)
        switch result.outcome {
        case .granted, .alreadyGranted, .grantedToOtherAccount: break
        case .belongsToOtherAccount, .refused:
            log.warning(
                "purchase refused",
                [
                    "receipt.outcome": result.outcome.code, "product.id": result.productID,
                    "transaction.id": result.transactionID, "account.id": account,
                ])
        }
    }
}

/// Counts the receipts of one loop between their arrival and their answer.
private final class UnderWay: Sendable {
    private let count = Atomic<Int>(0)

    /// Returns how many others there are.
    func begin() -> Int { count.add(1, ordering: .relaxed).oldValue }

    func end() { count.subtract(1, ordering: .relaxed) }
}
