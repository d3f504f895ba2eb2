import AppStore
import Base
package import CoinLedger
package import EventStore

/// Does what one notification says, as often as it's told to: each action changes the ledger once.
package struct NotificationActions: Sendable {
    package typealias Store = EventStore & NotificationStore & AttemptStore

    private let store: any Store
    private let verification: NotificationVerification
    private let owners: TokenOwners
    private let policy: @Sendable () -> PurchasePolicy
    private let granter: PurchaseGranter
    private let refunds: RefundService
    private let consumption: ConsumptionAnswer
    private let clock: @Sendable () -> Timestamp

    package init(
        store: any Store, verification: NotificationVerification, owners: TokenOwners,
        policy: @escaping @Sendable () -> PurchasePolicy, granter: PurchaseGranter,
        refunds: RefundService, consumption: ConsumptionAnswer,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.verification = verification
        self.owners = owners
        self.policy = policy
        self.granter = granter
        self.refunds = refunds
        self.consumption = consumption
        self.clock = clock
    }

    /// The types that ask for something, as the store spells them.
    private enum Kind: String {
        case oneTimeCharge = "ONE_TIME_CHARGE"
        case refund = "REFUND"
        case refundReversed = "REFUND_REVERSED"
        case consumptionRequest = "CONSUMPTION_REQUEST"
        /// Worth keeping, though nothing follows from it.
        case refundDeclined = "REFUND_DECLINED"
        case test = "TEST"
    }

    /// Posts that are looked through for whom a purchase was withheld from, the last ones first.
    private static let postsMax = 100

    /// Whether its attempts are bounded by the store's deadline, and not by their number.
    static func hasDeadline(_ kept: KeptNotification) -> Bool {
        Kind(rawValue: kept.received.type) == .consumptionRequest
    }

    /// What is kept is verified once more: the signature is the authority, not the table. Nobody is
    /// asked about revoked certificates again: that was settled when it was taken in.
    func act(on kept: KeptNotification) async -> NotificationDecision {
        let verified: VerifiedNotification
        do throws(NotificationVerification.Failure) {
            let text = String(decoding: kept.received.signedPayload, as: UTF8.self)
            verified = try await verification.verify(text, now: clock())
        } catch {
            switch error {
            case .untrusted(let error): return .dead(error.code)
            case .overloaded: return .overloaded
            }
        }
        guard let kind = Kind(rawValue: verified.notification.type) else { return .done("ignored") }
        switch kind {
        case .refundDeclined, .test: return .done("recorded")
        case .oneTimeCharge, .refund, .refundReversed, .consumptionRequest: break
        }
        guard let transaction = verified.transaction else { return .dead("transaction_missing") }
        switch kind {
        case .oneTimeCharge: return await grant(transaction)
        case .refund:
            guard let percentage = transaction.refundPercentage else {
                return .dead("refund_percentage_missing")
            }
            return await refund(transaction, percentage, kept)
        case .refundReversed: return await reverseRefund(transaction, kept)
        case .consumptionRequest: return await consumption.answer(kept, transaction)
        case .refundDeclined, .test: return .done("recorded")
        }
    }

    /// - Parameter withheld: the purchase, if posts of it may have been refused as refunded.
    private func grant(
        _ transaction: StoreTransaction, withheld key: PurchaseKey? = nil
    ) async -> NotificationDecision {
        var account: AccountID?
        do throws(EventStoreError) {
            account = try await owners.owner(of: transaction)
            if account == nil, let key { account = try await poster(of: key) }
        } catch {
            return .ledgerUnavailable
        }
        guard let account else {
            guard let reason = policy().refusal(of: transaction, at: clock()) else {
                return .unclaimed
            }
            return refused(reason, JSONObject())
        }
        do throws(WriterError) {
            let result = try await granter.grant([transaction], to: account)
            guard let outcome = result.transactions.first?.outcome else {
                return .dead(PurchaseRefusalReason.malformed.rawValue)
            }
            return decision(outcome, account)
        } catch {
            return NotificationDecision(error)
        }
    }

    /// The first to have posted the purchase and been told that it's refunded.
    private func poster(of key: PurchaseKey) async throws(EventStoreError) -> AccountID? {
        try await store.attempts(of: key.transactionID, limit: NotificationActions.postsMax)
            .filter { attempt in
                !attempt.isClaimed && attempt.code == PurchaseRefusalReason.refunded.rawValue
                    && attempt.purchase?.environment == key.environment
            }
            .min { $0.firstAt < $1.firstAt }?.account
    }

    private func decision(
        _ outcome: TransactionOutcome, _ account: AccountID
    ) -> NotificationDecision {
        var detail = JSONObject([.init("accountId", .string(account.text))])
        switch outcome {
        case .granted(_, let grant), .alreadyGranted(_, let grant):
            detail.append("eventId", .string(grant.description))
            return .done(outcome.code, detail)
        case .grantedToOtherAccount: return .done(outcome.code, detail)
        // The token has been linked to somebody else since its owner was looked up.
        case .belongsToOtherAccount: return .retry(reason: outcome.code)
        case .refused(let reason): return refused(reason, detail)
        }
    }

    /// A product may be missing from the catalogue by mistake, and is granted when it's there.
    private func refused(
        _ reason: PurchaseRefusalReason, _ detail: JSONObject
    ) -> NotificationDecision {
        reason == .unknownProduct ? .dead(reason.rawValue, detail) : .done(reason.rawValue, detail)
    }

    /// Only consumables are worth coins; the ledger needn't remember refunds of anything else.
    private func refund(
        _ transaction: StoreTransaction, _ percentage: Int64, _ kept: KeptNotification
    ) async -> NotificationDecision {
        guard transaction.type == "Consumable" else {
            return .done(PurchaseRefusalReason.notConsumable.rawValue)
        }
        guard let notified = kept.received.transaction,
            let signedAt = transaction.signedDate.map(Timestamp.init(milliseconds:))
                ?? kept.received.signedAt
        else { return .dead(PurchaseRefusalReason.malformed.rawValue) }
        let key = PurchaseKey(
            store: .appStore, environment: kept.received.environment, transactionID: notified.id)
        do throws(RefundService.Failure) {
            let result = try await refunds.submit(
                RefundWord(purchase: key, percentage: percentage, signedAt: signedAt))
            return decision(result, percentage)
        } catch {
            switch error {
            case .overloaded: return .overloaded
            case .unavailable: return .ledgerUnavailable
            }
        }
    }

    /// A purchase that nobody has is owed to its owner again, or to whoever posted it first, from
    /// whom it was withheld: the app has been told to finish it, and doesn't post it any more.
    private func reverseRefund(
        _ transaction: StoreTransaction, _ kept: KeptNotification
    ) async -> NotificationDecision {
        let decision = await refund(transaction, 0, kept)
        guard case .end(let ending) = decision,
            [Outcome.remembered, Outcome.unchanged].contains(ending.outcome),
            let notified = kept.received.transaction
        else { return decision }
        let key = PurchaseKey(
            store: .appStore, environment: kept.received.environment, transactionID: notified.id)
        do throws(EventStoreError) {
            guard try await store.claims(on: [key]).granted[key] == nil else { return decision }
        } catch {
            return .ledgerUnavailable
        }
        return await grant(transaction, withheld: key)
    }

    private enum Outcome {
        static let remembered = "refund_remembered"
        static let unchanged = "unchanged"
    }

    private func decision(
        _ result: RefundService.Result, _ percentage: Int64
    ) -> NotificationDecision {
        var detail = JSONObject([.init("percentage", .integer(percentage))])
        switch result {
        case .done(let account, let events, _):
            detail.append("accountId", .string(account.text))
            detail.append("eventId", events.last.map { .string($0.id.description) })
            return .done(percentage > 0 ? "refunded" : "refund_reversed", detail)
        case .remembered(let event):
            detail.append("eventId", .string(event.description))
            return .done(Outcome.remembered, detail)
        case .unchanged: return .done(Outcome.unchanged, detail)
        case .rejected(.balanceTooLarge): return .dead("balance_too_large", detail)
        case .rejected(.tooManyLots): return .dead("too_many_lots", detail)
        case .rejected: return .dead("refund_rejected", detail)
        }
    }
}

extension NotificationDecision {
    init(_ error: WriterError) {
        switch error {
        case .overloaded: self = .overloaded
        case .unavailable: self = .ledgerUnavailable
        }
    }
}

extension StoreTransaction {
    /// How much is refunded by now, in thousandths of a percent; nil if a partial refund doesn't say.
    ///
    /// Before December 2025 every refund was a full one, and none said anything of it.
    fileprivate var refundPercentage: Int64? {
        switch (revocation?.type, revocation?.percentage) {
        case ("REFUND_FULL", _), (nil, nil): Refund.percentageMax
        case (_, let percentage?) where percentage > 0: percentage
        case (_, _): nil
        }
    }
}
