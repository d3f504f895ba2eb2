import AppStore
import Base

/// The answers of the stand-in's verifyReceipt.
enum VerifyReceiptAnswer {
    /// What verifyReceipt says of a receipt that was confirmed.
    ///
    /// - Parameter entry: what the store knows of a transaction, which is more than the receipt.
    static func confirmed(
        _ receipt: AppReceipt, requestedAt instant: Int64, entry: (String) -> JSON?
    ) -> JSON {
        var object = JSONObject([
            .init(
                "receipt_type",
                receipt.environment == .production ? "Production" : "ProductionSandbox"),
            .init("adam_id", 0), .init("app_item_id", 0),
            .init("bundle_id", .string(receipt.bundleID)), .init("application_version", "1"),
            .init("download_id", 0), .init("version_external_identifier", 0),
        ])
        StoreDate.append("receipt_creation_date", receipt.createdAt, to: &object)
        StoreDate.append("request_date", instant, to: &object)
        // What the sandbox says of every app.
        StoreDate.append("original_purchase_date", 1_375_340_400_000, to: &object)
        object.append("original_application_version", "1.0")
        object.append(
            "in_app", .array(receipt.transactions.compactMap { entry($0.transactionID) }))
        return [
            "receipt": .object(object), "environment": .string(receipt.environment.text),
            "status": 0,
        ]
    }
}
