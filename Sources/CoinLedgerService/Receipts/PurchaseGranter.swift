package import AppStore
package import CoinLedger
package import Telemetry

/// Turns verified transactions into coins of an account, whoever brought them: an app's post, the
/// store's notification, or the support desk.
package struct PurchaseGranter: Sendable {
    private let ledger: Ledger
    private let policy: @Sendable () -> PurchasePolicy
    private let clock: @Sendable () -> Timestamp
    private let telemetry: ReceiptTelemetry
    private let log: Log

    /// More purchases are handed to the writer in parts, so that they find room.
    private static let commandsAtOnce = 256

    /// - Parameter policy: answers the policy in force, which a new catalogue replaces.
    package init(
        ledger: Ledger, policy: @escaping @Sendable () -> PurchasePolicy,
        clock: @escaping @Sendable () -> Timestamp, telemetry: ReceiptTelemetry, log: Log
    ) {
        self.ledger = ledger
        self.policy = policy
        self.clock = clock
        self.telemetry = telemetry
        self.log = log
    }

    /// Grants every one of `transactions` to `account` that is worth coins and hasn't been granted.
    ///
    /// - Parameter redelivery: why the support desk had them fetched; nil if it hadn't.
    /// - Throws: if the ledger didn't take them all; some of them may have been granted then.
    package func grant(
        _ transactions: [StoreTransaction], to account: AccountID, redelivery: Redelivery? = nil
    ) async throws(WriterError) -> ReceiptResult {
        let now = clock()
        let policy = policy()
        let judged = transactions.map { transaction in
            Result { () throws(PurchaseRefusalReason) in
                try policy.grant(
                    for: transaction, to: account, at: now, redelivery: redelivery)
            }
        }
        let grants = judged.compactMap { try? $0.get() }
        for grant in grants { noteClockSkew(grant.purchase, now) }
        let commands = grants.map {
            Command(id: .random(), account: account, time: now, action: .grantPurchase($0))
        }
        let outcomes = try await outcomes(of: commands, account)
        var granted = zip(grants, outcomes).makeIterator()
        let results = zip(transactions, judged).map { transaction, judgement in
            let outcome: TransactionOutcome =
                switch judgement {
                case .failure(let reason): .refused(reason)
                case .success: granted.next().map(TransactionOutcome.init) ?? .refused(.malformed)
                }
            return TransactionResult(
                transactionID: transaction.transactionID, productID: transaction.productID,
                environment: transaction.environment.text, outcome: outcome)
        }
        return ReceiptResult(
            account: account, transactions: results, balance: outcomes.last?.balance)
    }

    private func outcomes(
        of commands: [Command], _ account: AccountID
    ) async throws(WriterError) -> [Outcome] {
        var outcomes: [Outcome] = []
        for start in stride(from: 0, to: commands.count, by: PurchaseGranter.commandsAtOnce) {
            let part = commands[
                start..<min(start + PurchaseGranter.commandsAtOnce, commands.count)]
            outcomes += try await ledger.submit(Array(part), of: account)
        }
        return outcomes
    }

    private func noteClockSkew(_ purchase: Purchase, _ now: Timestamp) {
        guard purchase.purchasedAt > now else { return }
        telemetry.futurePurchases.increment()
        log.warning(
            "purchase dated in the future",
            [
                "transaction.id": purchase.key.transactionID, "purchase.at": purchase.purchasedAt,
            ])
    }
}

extension TransactionOutcome {
    /// The stable code of the outcome.
    package var code: String {
        switch self {
        case .granted: "granted"
        case .alreadyGranted: "already_granted"
        case .grantedToOtherAccount: "granted_to_other_account"
        case .belongsToOtherAccount: "belongs_to_other_account"
        case .refused(let reason): reason.rawValue
        }
    }

    fileprivate init(_ grant: PurchaseGrant, _ outcome: Outcome) {
        switch outcome.result {
        case .done(let events):
            guard let granted = events.first(where: \.event.isGrant) else {
                preconditionFailure("a purchase that is granted has caused an event that says so")
            }
            self = .granted(grant.coins, grant: granted.id)
        case .rejected(let rejection):
            switch rejection {
            case .alreadyDone(let claim): self = .granted(claim.coins, grant: claim.grant)
            case .alreadyGranted(let claim): self = .alreadyGranted(claim.coins, grant: claim.grant)
            case .grantedToOtherAccount: self = .grantedToOtherAccount
            case .belongsToOtherAccount: self = .belongsToOtherAccount
            case .balanceTooLarge: self = .refused(.balanceTooLarge)
            case .refundedBefore: self = .refused(.refunded)
            default: preconditionFailure("no such thing is said of a purchase")
            }
        }
    }
}

extension Event {
    fileprivate var isGrant: Bool {
        if case .coinsGranted = self { true } else { false }
    }
}
