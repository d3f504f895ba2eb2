/// One transaction as the App Store states it, whether in a signed transaction or a receipt.
///
/// Its texts are bounded and printable, so that nothing unbounded reaches the ledger. Whether the
/// purchase is one to grant (app, product, quantity, type, ownership) is not decided here.
/// Instants are milliseconds since 1970.
///
/// Source: developer.apple.com, JWSTransactionDecodedPayload.
package struct StoreTransaction: Hashable, Sendable {
    /// 1 to 64 characters of `A-Z a-z 0-9 . _ -`; decimal when it comes from Apple.
    package let transactionID: String
    /// Equal to `transactionID` where the store states none.
    package let originalTransactionID: String
    package let bundleID: String
    package let productID: String
    /// 1 to 2^31 − 1; 1 where the store states none.
    package let quantity: Int64
    package let environment: StoreEnvironment
    package let purchaseDate: Int64
    package let originalPurchaseDate: Int64?
    package let signedDate: Int64?
    /// Such as `Consumable`; nil in a receipt, which doesn't say.
    package let type: String?
    /// Such as `PURCHASED`.
    package let ownership: String?
    /// The UUID that the app attached to the purchase, in lower case.
    package let appAccountToken: String?
    /// The total for the whole quantity in thousandths of a unit of `currency`.
    package let price: Int64?
    package let currency: String?
    /// ISO 3166-1 alpha-3, such as `USA`.
    package let storefront: String?
    package let storefrontID: String?
    package let offerType: Int64?
    package let transactionReason: String?
    package let revocation: StoreRevocation?

    /// - Throws: `InvalidStoreField` naming the first field that is out of bounds.
    package init(
        transactionID: String, originalTransactionID: String? = nil, bundleID: String,
        productID: String, quantity: Int64 = 1, environment: StoreEnvironment,
        purchaseDate: Int64, originalPurchaseDate: Int64? = nil, signedDate: Int64? = nil,
        type: String? = nil, ownership: String? = nil, appAccountToken: String? = nil,
        price: Int64? = nil, currency: String? = nil, storefront: String? = nil,
        storefrontID: String? = nil, offerType: Int64? = nil, transactionReason: String? = nil,
        revocation: StoreRevocation? = nil
    ) throws(InvalidStoreField) {
        typealias Limits = StoreFieldLimits
        self.transactionID = try Limits.identifier("transactionId", transactionID)
        self.originalTransactionID = try Limits.identifier(
            "originalTransactionId", originalTransactionID ?? transactionID)
        self.bundleID = try Limits.name("bundleId", bundleID)
        self.productID = try Limits.name("productId", productID)
        self.quantity = try Limits.number("quantity", quantity, 1...Int64(Int32.max))
        _ = try Limits.text("environment", environment.text)
        self.environment = environment
        self.purchaseDate = try Limits.instant("purchaseDate", purchaseDate)
        self.originalPurchaseDate = try originalPurchaseDate.map {
            value throws(InvalidStoreField) in
            try Limits.instant("originalPurchaseDate", value)
        }
        self.signedDate = try signedDate.map { value throws(InvalidStoreField) in
            try Limits.instant("signedDate", value)
        }
        self.type = try Limits.text("type", type)
        self.ownership = try Limits.text("inAppOwnershipType", ownership)
        self.appAccountToken = try appAccountToken.map { value throws(InvalidStoreField) in
            try Limits.uuid("appAccountToken", value)
        }
        self.price = try price.map { value throws(InvalidStoreField) in
            try Limits.number("price", value, 0...Int64.max)
        }
        self.currency = try Limits.text("currency", currency)
        self.storefront = try Limits.text("storefront", storefront)
        self.storefrontID = try Limits.text("storefrontId", storefrontID)
        self.offerType = offerType
        self.transactionReason = try Limits.text("transactionReason", transactionReason)
        self.revocation = revocation
    }
}

/// That the store took a transaction back, wholly or in part.
package struct StoreRevocation: Hashable, Sendable {
    package let date: Int64
    /// 0 for another reason, 1 for an issue in the app.
    package let reason: Int64?
    /// Such as `REFUND_FULL` or `REFUND_PRORATED`.
    package let type: String?
    /// Thousandths of a per cent, 0 to 100000.
    package let percentage: Int64?

    /// - Throws: `InvalidStoreField` naming the first field that is out of bounds.
    package init(
        date: Int64, reason: Int64? = nil, type: String? = nil, percentage: Int64? = nil
    ) throws(InvalidStoreField) {
        self.date = try StoreFieldLimits.instant("revocationDate", date)
        self.reason = reason
        self.type = try StoreFieldLimits.text("revocationType", type)
        self.percentage = try percentage.map { value throws(InvalidStoreField) in
            try StoreFieldLimits.number("revocationPercentage", value, 0...100_000)
        }
    }
}

/// A field of a transaction that is missing, of the wrong type, or out of bounds.
package struct InvalidStoreField: Error, Hashable {
    /// Its name in Apple's JSON.
    package let field: String

    package init(_ field: String) { self.field = field }
}
