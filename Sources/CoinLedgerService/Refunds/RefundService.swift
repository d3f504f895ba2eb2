package import CoinLedger
import EventStore
package import Telemetry

/// Carries out the store's word on the refund of a purchase, whoever has it.
package struct RefundService: Sendable {
    private let ledger: Ledger
    private let policy: @Sendable () -> LedgerPolicy
    private let clock: @Sendable () -> Timestamp
    private let log: Log

    /// How often a purchase may change hands while its refund is under way.
    private static let attemptsMax = 5

    package init(
        ledger: Ledger, policy: @escaping @Sendable () -> LedgerPolicy,
        clock: @escaping @Sendable () -> Timestamp, log: Log
    ) {
        self.ledger = ledger
        self.policy = policy
        self.clock = clock
        self.log = log
    }

    package enum Result: Sendable {
        /// The account's purchase was refunded, or its refund reversed.
        case done(AccountID, [RecordedEvent], AccountBalance)
        /// Nobody has the purchase yet; it's remembered for when somebody posts it.
        case remembered(EventID)
        /// The store has said so before, or something else later.
        case unchanged
        case rejected(Rejection)
    }

    package enum Failure: Error, Hashable, Sendable {
        case overloaded
        case unavailable
    }

    package func submit(_ word: RefundWord) async throws(Failure) -> Result {
        for _ in 0..<RefundService.attemptsMax {
            let key = word.purchase
            let claim: PurchaseClaim?
            do throws(EventStoreError) {
                claim = try await ledger.store.claims(on: [key]).granted[key]
            } catch {
                throw failure(error)
            }
            let result =
                if let claim { try await refund(claim, word) } else { try await remember(word) }
            if let result { return result }
        }
        throw .unavailable
    }

    private func refund(
        _ claim: PurchaseClaim, _ word: RefundWord
    ) async throws(Failure) -> Result? {
        let (purchase, lots) = try await granted(claim)
        let action = Command.Action.refund(
            RefundNotice(
                purchase: purchase, lots: lots, percentage: word.percentage,
                signedAt: word.signedAt, shortfallPolicy: policy().refundShortfall))
        let outcome = try await outcome(of: action, claim.account)
        switch outcome.result {
        case .done(let events): return .done(claim.account, events, outcome.balance)
        case .rejected(.refundIsOlder), .rejected(.refundAlreadyKnown): return .unchanged
        case .rejected(let rejection): return .rejected(rejection)
        }
    }

    /// The lots that a purchase opened, and the key that its grant names.
    private func granted(
        _ claim: PurchaseClaim
    ) async throws(Failure) -> (PurchaseKey, [Lot]) {
        do throws(EventStoreError) {
            guard let stored = try await ledger.store.event(claim.grant),
                case .coinsGranted(let granted) = try stored.decoded(),
                case .purchase(let key) = granted.source
            else { throw .corrupt("event \(claim.grant) grants no purchase") }
            return (key, granted.lots)
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: EventStoreError) -> Failure {
        log.error("refund not carried out", ["error": "\(error)"])
        return .unavailable
    }

    /// Nil if somebody has got the purchase meanwhile.
    private func remember(_ word: RefundWord) async throws(Failure) -> Result? {
        switch try await outcome(of: .rememberRefund(word), .unclaimed).result {
        case .done(let events): return events.first.map { .remembered($0.id) }
        case .rejected(.purchaseIsGranted): return nil
        case .rejected: return .unchanged
        }
    }

    private func outcome(
        of action: Command.Action, _ account: AccountID
    ) async throws(Failure) -> Outcome {
        let command = Command(id: .random(), account: account, time: clock(), action: action)
        do throws(WriterError) {
            guard let outcome = try await ledger.submit([command], of: account).first else {
                preconditionFailure("every command has an outcome")
            }
            return outcome
        } catch {
            switch error {
            case .overloaded: throw .overloaded
            case .unavailable: throw .unavailable
            }
        }
    }
}
