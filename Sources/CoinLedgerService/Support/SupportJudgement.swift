import CoinLedger
import EventStore

/// Tells the status of a purchase from everything that is known of it.
struct SupportJudgement {
    let status: SupportStatus
    let nextStep: SupportStep
    var account: AccountID?
    var refusal: SupportPurchase.Refusal?

    /// What isn't refused, but couldn't be decided.
    private static let undecided: Set<String> = ["store_unavailable", "revocation_unknown"]
    /// The type of notification that tells of a purchase, as the store spells it.
    private static let purchaseType = "ONE_TIME_CHARGE"

    init(_ status: SupportStatus, _ nextStep: SupportStep) {
        self.status = status
        self.nextStep = nextStep
    }

    /// - Parameters:
    ///   - found: what the ledger has of it.
    ///   - asker: the account that misses it, if that's known.
    init(
        _ found: PurchaseReader.Found?, _ evidence: SupportPurchase.Evidence,
        asker: AccountID?
    ) {
        switch found {
        case .granted(let granted): self = .granted(granted, evidence, asker)
        case .remembered(let word) where word.refund.percentage > 0:
            self.init(.refunded(word.refund.percentage), .explainRefund)
        case .remembered, nil: self = .notGranted(evidence)
        }
    }

    private static func granted(
        _ granted: PurchaseReader.Granted, _ evidence: SupportPurchase.Evidence,
        _ asker: AccountID?
    ) -> SupportJudgement {
        let owner = granted.claim.account
        // Whoever asks or, if that isn't known, whoever has posted it in vain.
        let missing = asker.map { $0 != owner }
        let isMissed =
            missing
            ?? evidence.attempts.contains {
                $0.code == TransactionOutcome.grantedToOtherAccount.code && $0.account != owner
            }
        let percentage = granted.refund?.percentage ?? 0
        var judgement =
            if isMissed {
                SupportJudgement(.grantedToOtherAccount, .askWhichAccount)
            } else if percentage > 0 {
                SupportJudgement(.refunded(percentage), .explainRefund)
            } else if granted.purchase.purchase.key.environment == .sandbox {
                SupportJudgement(.sandbox, .explainSandbox)
            } else {
                SupportJudgement(.granted, .showHistory)
            }
        judgement.account = owner
        return judgement
    }

    private static func notGranted(_ evidence: SupportPurchase.Evidence) -> SupportJudgement {
        let told = evidence.notifications.filter { $0.received.type == purchaseType }
        if let unclaimed = told.last(where: { $0.outcome == NotificationEnding.unclaimed }) {
            let hasToken = unclaimed.received.transaction?.appAccountToken != nil
            return SupportJudgement(.unclaimed, hasToken ? .linkToken : .redeliverToAccount)
        }
        if told.contains(where: { $0.state == .pending }) {
            return SupportJudgement(.waitingForStore, .wait)
        }
        let verdicts = evidence.attempts.map(Verdict.init) + told.compactMap(Verdict.init)
        guard let last = verdicts.max(by: { $0.isOutweighed(by: $1) }) else {
            return SupportJudgement(.neverReceived, .redeliver)
        }
        var judgement = last.judgement
        judgement.account = last.account
        judgement.refusal = SupportPurchase.Refusal(code: last.code, at: last.at)
        return judgement
    }

    /// One refusal of the purchase.
    private struct Verdict {
        let code: String
        let at: Timestamp
        let account: AccountID?
        /// Whether it was about what somebody claimed.
        let isClaimed: Bool
        let hasTransaction: Bool

        init(_ attempt: KeptAttempt) {
            code = attempt.code
            at = attempt.lastAt
            account = attempt.account
            isClaimed = attempt.isClaimed
            hasTransaction = attempt.purchase != nil
        }

        /// Nil if the notification has come to no end.
        init?(_ notification: KeptNotification) {
            guard let outcome = notification.outcome, let endedAt = notification.endedAt else {
                return nil
            }
            code = outcome
            at = endedAt
            account = nil
            isClaimed = false
            hasTransaction = true
        }

        /// What the store vouches for counts for more than what somebody claims, and then the later
        /// for more than the earlier.
        func isOutweighed(by other: Verdict) -> Bool {
            if isClaimed != other.isClaimed { return isClaimed }
            return at < other.at
        }

        var judgement: SupportJudgement {
            if SupportJudgement.undecided.contains(code) {
                return SupportJudgement(.waitingForStore, .wait)
            }
            switch code {
            case PurchaseRefusalReason.sandboxRefused.rawValue:
                return SupportJudgement(.sandbox, .explainSandbox)
            case PurchaseRefusalReason.refunded.rawValue:
                return SupportJudgement(.refunded, .explainRefund)
            default: return SupportJudgement(.rejected, step)
            }
        }

        private var step: SupportStep {
            if code == TransactionOutcome.belongsToOtherAccount.code { return .askWhichAccount }
            if code == PurchaseRefusalReason.unknownProduct.rawValue { return .mendCatalogue }
            if PurchaseRefusalReason(rawValue: code) != nil { return .explainRejection }
            if code == "transaction_not_in_receipt" { return .postAgain }
            // Nothing was proven: the store knows whether there is such a purchase.
            return hasTransaction ? .redeliver : .askForOrderID
        }
    }
}

extension SupportStatus {
    /// - Parameter percentage: in thousandths of a percent, above 0.
    fileprivate static func refunded(_ percentage: Int64) -> SupportStatus {
        percentage < Refund.percentageMax ? .partlyRefunded : .refunded
    }
}
