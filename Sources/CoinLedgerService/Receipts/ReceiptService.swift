import AppStore
package import CoinLedger
import EventStore
import Synchronization
package import Telemetry

/// Turns a submitted receipt into coins: verify, look up the worth, append.
package struct ReceiptService: Sendable {
    private let ledger: Ledger
    private let policy: @Sendable () -> PurchasePolicy
    private let verification: ReceiptVerification
    private let clock: @Sendable () -> Timestamp
    private let telemetry: ReceiptTelemetry
    private let log: Log
    private let underWay = UnderWay()

    /// A receipt with more purchases is handed to the writer in parts, so that it finds room.
    private static let commandsAtOnce = 256

    /// - Parameter policy: answers the policy in force, which a new catalogue replaces.
    package init(
        ledger: Ledger, policy: @escaping @Sendable () -> PurchasePolicy,
        verification: ReceiptVerification, clock: @escaping @Sendable () -> Timestamp,
        telemetry: ReceiptTelemetry, log: Log
    ) {
        self.ledger = ledger
        self.policy = policy
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
        let isAlone = underWay.begin()
        defer { underWay.end() }
        let transactions = try await verification.verify(
            receipt, now: clock(), isAlone: isAlone)
        guard !transactions.isEmpty else { throw .noTransaction }
        return try await grant(transactions, to: account)
    }

    private func grant(
        _ transactions: [StoreTransaction], to account: AccountID
    ) async throws(ReceiptError) -> ReceiptResult {
        let now = clock()
        let policy = policy()
        let judged = transactions.map { transaction in
            Result { () throws(PurchaseRefusalReason) in
                try policy.grant(for: transaction, to: account, at: now)
            }
        }
        let grants = judged.compactMap { try? $0.get() }
        for grant in grants { noteClockSkew(grant.purchase, now) }
        let commands = grants.map { command(.grantPurchase($0), account, now) }
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
        try await keep(results, account, now)
        return ReceiptResult(
            account: account, transactions: results, balance: outcomes.last?.balance)
    }

    private func command(
        _ action: Command.Action, _ account: AccountID, _ now: Timestamp
    ) -> Command {
        Command(id: .random(), account: account, time: now, action: action)
    }

    private func outcomes(
        of commands: [Command], _ account: AccountID
    ) async throws(ReceiptError) -> [Outcome] {
        do throws(WriterError) {
            var outcomes: [Outcome] = []
            for start in stride(from: 0, to: commands.count, by: ReceiptService.commandsAtOnce) {
                let part = commands[
                    start..<min(start + ReceiptService.commandsAtOnce, commands.count)]
                outcomes += try await ledger.submit(Array(part), of: account)
            }
            return outcomes
        } catch {
            switch error {
            case .overloaded: throw .overloaded
            case .unavailable: throw .ledgerUnavailable
            }
        }
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
                try await ledger.store.record(refusal)
            } catch {
                log.error("refusal not kept", ["error": "\(error)"])
                throw .ledgerUnavailable
            }
        }
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

/// Counts the receipts between their arrival and their answer, on all loops.
private final class UnderWay: Sendable {
    private let count = Atomic<Int>(0)

    /// Whether it's the only one.
    func begin() -> Bool { count.add(1, ordering: .relaxed).oldValue == 0 }

    func end() { count.subtract(1, ordering: .relaxed) }
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
