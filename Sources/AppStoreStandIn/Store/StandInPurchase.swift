package import Base

/// What a customer of the stand-in buys. What isn't said is as in an ordinary purchase.
package struct StandInPurchase: Sendable {
    package var productID: String
    package var quantity: Int64 = 1
    /// The UUID that the app attaches to the purchase.
    package var appAccountToken: String?
    /// Apple's spelling; that of the store if nil.
    package var environment: String?
    /// A new one if nil. One that was sold before is sold again, with what is said now.
    package var transactionID: String?
    package var originalTransactionID: String?
    /// Thousandths of a unit of the currency, for the whole quantity.
    package var price: Int64?
    package var currency: String?
    /// ISO 3166-1 alpha-3.
    package var storefront: String?
    /// Whose receipt the purchase goes to. A device is a customer of its own.
    package var device = "default"
    /// On the invoice; a new one if nil. Several purchases may share one.
    package var orderID: String?
    /// A code that the customer redeems: the purchase costs nothing unless a price is given.
    package var offerCode: String?
    /// Whether the service is notified, if there is a target for notifications.
    package var notify = true
    package var fault: PurchaseFault?
    /// Members of the signed payload that replace those made here; null takes one away.
    package var payload = JSONObject()

    package init(productID: String) { self.productID = productID }
}

/// What can be wrong with a signed transaction.
package enum PurchaseFault: Hashable, Sendable {
    case wrongSignature
    case wrongBundle
    case chain(ChainFault)

    /// The name in requests, or nil if there's no such fault.
    package init?(_ name: String) {
        switch name {
        case "wrong_signature": self = .wrongSignature
        case "wrong_bundle": self = .wrongBundle
        default:
            guard let fault = ChainFault(rawValue: name) else { return nil }
            self = .chain(fault)
        }
    }

    package static let wrongBundleID = "com.example.other"
}

/// What the customer's app gets.
package struct StandInSale: Sendable {
    package let transactionID: String
    package let signedTransaction: String
    private let snapshot: ReceiptSnapshot

    init(transactionID: String, signedTransaction: String, snapshot: ReceiptSnapshot) {
        self.transactionID = transactionID
        self.signedTransaction = signedTransaction
        self.snapshot = snapshot
    }

    /// The device's app receipt with everything unfinished on it then, in base64.
    ///
    /// Signed only now, which takes a millisecond: most sales are posted as signed transactions.
    package var receipt: String { snapshot.signed() }
}

/// Why the stand-in doesn't do what it's asked.
package enum StandInStoreError: Error, Hashable {
    case unknownTransaction
    /// It was never begun, is over, or is at another point than what is asked for needs.
    case wrongState(StandInSaleState)
    /// There's no refund to reverse.
    case notRefunded
    /// So many transactions, or notifications under way, are stored as there may be.
    case full
}
