package import CoinLedger

/// What has become of each purchase in a receipt, and the account after it.
package struct ReceiptResult: Sendable {
    package let account: AccountID
    /// In the order of the receipt; at least one.
    package internal(set) var transactions: [TransactionResult]
    /// The account's, after the purchases; nil if none of them reached the ledger.
    package internal(set) var balance: AccountBalance?
}

/// What has become of one purchase.
package struct TransactionResult: Sendable {
    package let transactionID: String
    package let productID: String
    package let environment: String
    package let outcome: TransactionOutcome
}

package enum TransactionOutcome: Hashable, Sendable {
    case granted(GrantedCoins, grant: EventID)
    /// To this account, by an earlier post.
    case alreadyGranted(GrantedCoins, grant: EventID)
    case grantedToOtherAccount
    case belongsToOtherAccount
    case refused(PurchaseRefusalReason)
}

/// Why a purchase that the store vouches for is not granted.
package enum PurchaseRefusalReason: String, Error, Hashable, CaseIterable {
    /// Signed for an app that isn't in the catalogue.
    case wrongApp = "wrong_app"
    /// Not in the catalogue at the time of the purchase: kept, and granted when it's posted after
    /// the catalogue has been put right.
    case unknownProduct = "unknown_product"
    /// A subscription or something else that isn't consumed.
    case notConsumable = "not_consumable"
    /// Shared by another person, not bought.
    case notPurchased = "not_purchased"
    case quantityOutOfRange = "quantity_out_of_range"
    /// Play money, by the service's policy.
    case sandboxRefused = "sandbox_refused"
    /// It has an id or a date that the ledger can't hold.
    case malformed = "malformed_purchase"
    /// Neither production nor sandbox.
    case environmentRefused = "environment_refused"
    /// The store has taken it back.
    case refunded = "refunded"
    /// More coins than an account can hold.
    case balanceTooLarge = "balance_too_large"
}

/// Why nothing in a receipt could be looked at.
package enum ReceiptError: Error, Hashable, Sendable {
    /// It isn't a receipt. The code and sentence name what was found.
    case wrongShape(code: String, message: String)
    /// Its signature, chain or content can't be trusted.
    case notTrusted(code: String, message: String)
    /// The store says it's none of its own. `status` is the store's number.
    case rejectedByStore(status: Int64)
    /// A certificate that vouches for it was taken back by its authority.
    case certificateRevoked
    /// Whether that's so can't be found out now: try again.
    case revocationUnknown
    /// It's genuine, but holds no consumable.
    case noTransaction
    /// The store can't be asked now, or its answer can't be used: try again.
    case storeUnavailable(reason: String)
    /// More work waits than is allowed.
    case overloaded
    /// The ledger takes no writes now.
    case ledgerUnavailable
}
