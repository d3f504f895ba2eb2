import Base

extension StoreTransaction {
    /// Reads the payload of a signed transaction. Says nothing of its signature.
    ///
    /// - Throws: `InvalidStoreField` naming the field; it's empty if the payload as a whole isn't
    ///   a JSON object.
    package init(signedPayload: [UInt8]) throws(InvalidStoreField) {
        guard let object = (try? JSON.parse(signedPayload))?.object else {
            throw InvalidStoreField("")
        }
        try self.init(signedPayload: object)
    }

    init(signedPayload object: JSONObject) throws(InvalidStoreField) {
        let fields = StoreFields(object)
        try self.init(
            transactionID: fields.required("transactionId", fields.text("transactionId")),
            originalTransactionID: fields.text("originalTransactionId"),
            bundleID: fields.required("bundleId", fields.text("bundleId")),
            productID: fields.required("productId", fields.text("productId")),
            quantity: fields.integer("quantity") ?? 1,
            environment: StoreEnvironment(
                fields.required("environment", fields.text("environment"))),
            purchaseDate: fields.required("purchaseDate", fields.instant("purchaseDate")),
            originalPurchaseDate: fields.instant("originalPurchaseDate"),
            signedDate: fields.instant("signedDate"),
            type: fields.required("type", fields.text("type")),
            ownership: fields.text("inAppOwnershipType"),
            appAccountToken: fields.text("appAccountToken"),
            price: fields.integer("price"),
            currency: fields.text("currency"),
            storefront: fields.text("storefront"),
            storefrontID: fields.text("storefrontId"),
            offerType: fields.integer("offerType"),
            transactionReason: fields.text("transactionReason"),
            revocation: StoreRevocation(signedPayload: fields))
    }
}

extension StoreRevocation {
    fileprivate init?(signedPayload fields: StoreFields) throws(InvalidStoreField) {
        guard let date = try fields.instant("revocationDate") else { return nil }
        try self.init(
            date: date,
            reason: fields.integer("revocationReason"),
            type: fields.text("revocationType"),
            percentage: fields.integer("revocationPercentage"))
    }
}
