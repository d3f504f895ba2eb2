package import Base

extension StoreTransaction {
    /// Reads one entry of `in_app` or `latest_receipt_info` in an answer of verifyReceipt, or a
    /// flat receipt of the time of iOS 6.
    ///
    /// Returns nil for a subscription, which is told by its expiry and never is a consumable.
    /// Only the `_ms` dates are read: the others are text in a zone.
    ///
    /// Source: developer.apple.com, responseBody.Receipt.In_app.
    package init?(
        receiptEntry: JSONObject, bundleID: String, environment: StoreEnvironment
    ) throws(InvalidStoreField) {
        let fields = StoreFields(receiptEntry)
        for name in ["expires_date", "expires_date_ms"]
        where try fields.looseText(name) != nil { return nil }
        try self.init(
            transactionID: fields.required("transaction_id", fields.looseText("transaction_id")),
            originalTransactionID: fields.looseText("original_transaction_id"),
            bundleID: bundleID,
            productID: fields.required("product_id", fields.text("product_id")),
            quantity: fields.looseInteger("quantity") ?? 1,
            environment: environment,
            purchaseDate: fields.required(
                "purchase_date_ms", fields.looseInteger("purchase_date_ms")),
            originalPurchaseDate: fields.looseInteger("original_purchase_date_ms"),
            ownership: fields.looseText("in_app_ownership_type"),
            appAccountToken: fields.looseText("app_account_token"),
            revocation: StoreRevocation(receiptEntry: fields))
    }
}

extension StoreRevocation {
    fileprivate init?(receiptEntry fields: StoreFields) throws(InvalidStoreField) {
        guard let date = try fields.looseInteger("cancellation_date_ms") else { return nil }
        try self.init(date: date, reason: fields.looseInteger("cancellation_reason"))
    }
}
