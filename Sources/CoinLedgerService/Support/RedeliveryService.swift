import AppStore
import AppStoreConnection
package import CoinLedger
import EventStore
package import Telemetry

/// Grants a purchase that nobody has posted, or can post any more: fetches it from the store by its
/// id. It claims the purchase as a post would, so that it's granted once however often both come.
package struct RedeliveryService: Sendable {
    private let ledger: Ledger
    private let granter: PurchaseGranter
    private let owners: TokenOwners
    private let store: StoreLookup?
    private let verification: ReceiptVerification
    private let clock: @Sendable () -> Timestamp
    private let log: Log

    /// - Parameter store: nil where the App Store Server API can't be asked.
    package init(
        ledger: Ledger, granter: PurchaseGranter, owners: TokenOwners, store: StoreLookup?,
        verification: ReceiptVerification, clock: @escaping @Sendable () -> Timestamp, log: Log
    ) {
        self.ledger = ledger
        self.granter = granter
        self.owners = owners
        self.store = store
        self.verification = verification
        self.clock = clock
        self.log = log
    }

    /// - Parameter account: to whom; nil for the owner of the token that the purchase carries.
    /// - Returns: what became of the one purchase.
    package func redeliver(
        _ id: TransactionID, to account: AccountID?, because redelivery: Redelivery
    ) async throws(StoreLookup.Failure) -> ReceiptResult {
        if let known = try await granted(id, account) { return known }
        guard let store else { throw .notConfigured }
        let signed: String
        do throws(AppStoreServerError) {
            signed = try await store.transaction(id.text).signed
        } catch {
            log.warning(
                "purchase not fetched",
                ["transaction.id": id, "store.error": error.code, "error": "\(error)"])
            throw StoreLookup.Failure(error)
        }
        let transaction = try await verification.verifyAnswer(signed, now: clock())
        guard transaction.transactionID == id.text else {
            throw .notTrusted(code: "another_transaction")
        }
        let owner = try await owner(of: transaction, account)
        let result: ReceiptResult
        do throws(WriterError) {
            result = try await granter.grant([transaction], to: owner, redelivery: redelivery)
        } catch {
            switch error {
            case .overloaded: throw .overloaded
            case .unavailable: throw .ledgerUnavailable
            }
        }
        log.info(
            "purchase redelivered",
            [
                "transaction.id": id, "account.id": owner, "ticket.id": redelivery.ticketID,
                "receipt.outcome": result.transactions.first?.outcome.code ?? "",
            ])
        return result
    }

    /// What was granted needn't be fetched; nil if it wasn't.
    private func granted(
        _ id: TransactionID, _ account: AccountID?
    ) async throws(StoreLookup.Failure) -> ReceiptResult? {
        for environment in Environment.allCases {
            let key = PurchaseKey(store: .appStore, environment: environment, transactionID: id)
            do throws(EventStoreError) {
                guard
                    case .granted(let granted) = try await PurchaseReader(store: ledger.store)
                        .find(key)
                else { continue }
                let claim = granted.claim
                let isOther = account.map { $0 != claim.account } ?? false
                let result = TransactionResult(
                    transactionID: id.text, productID: granted.purchase.purchase.productID,
                    environment: environment.rawValue,
                    outcome: isOther
                        ? .grantedToOtherAccount
                        : .alreadyGranted(claim.coins, grant: claim.grant))
                return ReceiptResult(
                    account: account ?? claim.account, transactions: [result], balance: nil)
            } catch {
                throw .ledgerUnavailable
            }
        }
        return nil
    }

    private func owner(
        of transaction: StoreTransaction, _ account: AccountID?
    ) async throws(StoreLookup.Failure) -> AccountID {
        if let account { return account }
        do throws(EventStoreError) {
            if let owner = try await owners.owner(of: transaction) { return owner }
        } catch {
            throw .ledgerUnavailable
        }
        throw .ownerUnknown
    }
}
