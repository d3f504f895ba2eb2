import Base

/// One transaction of the stand-in.
struct Sale: Sendable {
    let transactionID: String
    let originalTransactionID: String
    let environment: String
    let device: String
    let purchaseDate: Int64
    let bundleID: String
    private let purchase: StandInPurchase

    init(
        _ purchase: StandInPurchase, transactionID: String, bundleID: String,
        environment: String, at instant: Int64
    ) {
        self.purchase = purchase
        self.transactionID = transactionID
        originalTransactionID = purchase.originalTransactionID ?? transactionID
        self.bundleID = purchase.fault == .wrongBundle ? PurchaseFault.wrongBundleID : bundleID
        self.environment = environment
        device = purchase.device
        purchaseDate = instant
    }

    /// The payload of the signed transaction.
    func payload(signedAt instant: Int64) -> JSON {
        var object = JSONObject([
            .init("transactionId", .string(transactionID)),
            .init("originalTransactionId", .string(originalTransactionID)),
            .init("bundleId", .string(bundleID)),
            .init("productId", .string(purchase.productID)),
            .init("purchaseDate", .integer(purchaseDate)),
            .init("originalPurchaseDate", .integer(purchaseDate)),
            .init("quantity", .integer(purchase.quantity)),
            .init("type", "Consumable"),
        ])
        object.append("appAccountToken", purchase.appAccountToken.map { .string($0) })
        object.append("inAppOwnershipType", "PURCHASED")
        object.append("signedDate", .integer(instant))
        object.append("environment", .string(environment))
        object.append("transactionReason", "PURCHASE")
        object.append("storefront", .string(purchase.storefront ?? "JPN"))
        object.append("storefrontId", purchase.storefront == nil ? "143462" : nil as JSON?)
        object.append("price", .integer(purchase.price ?? defaultPrice))
        object.append("currency", .string(purchase.currency ?? "JPY"))
        return .object(replaced(object))
    }

    /// The entry in `in_app`: nothing but text, as the real ones are.
    func receiptEntry() -> JSON {
        var object = JSONObject([
            .init("quantity", .string(String(purchase.quantity))),
            .init("product_id", .string(purchase.productID)),
            .init("transaction_id", .string(transactionID)),
            .init("original_transaction_id", .string(originalTransactionID)),
        ])
        StoreDate.append("purchase_date", purchaseDate, to: &object)
        StoreDate.append("original_purchase_date", purchaseDate, to: &object)
        object.append("is_trial_period", "false")
        object.append("in_app_ownership_type", "PURCHASED")
        object.append("app_account_token", purchase.appAccountToken.map { .string($0) })
        return .object(object)
    }

    /// 120 yen each.
    private var defaultPrice: Int64 {
        purchase.quantity.multipliedReportingOverflow(by: 120_000).partialValue
    }

    private func replaced(_ object: JSONObject) -> JSONObject {
        let changes = purchase.payload
        var members = object.members.filter { changes[$0.name] == nil }
        members += changes.members.filter { $0.value != .null }
        return JSONObject(members)
    }
}
