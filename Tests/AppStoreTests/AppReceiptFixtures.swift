import AppStore
import AppStoreStandIn
import Base
import Testing

/// Makes and verifies receipts of one stand-in, ten years around noon.
struct ReceiptShop {
    let store = StandInStore(authority: authority, now: { noon })
    let verifier: AppReceiptVerifier

    init() throws {
        verifier = AppReceiptVerifier(
            roots: try RootCertificates(
                files: [Array(authority.rootsPEM.utf8)], allowPrivate: true))
    }

    /// A device's receipt after purchases with these ids.
    func receipt(
        _ ids: [String] = ["T1"], form: ReceiptForm = ReceiptForm(), environment: String? = nil,
        _ change: (inout StandInPurchase) -> Void = { _ in }
    ) throws -> [UInt8] {
        let device = "device-\(UInt32.random(in: .min ... .max))"
        for id in ids {
            var purchase = StandInPurchase(productID: "com.nonchalant.consumable1")
            purchase.transactionID = id
            purchase.device = device
            purchase.environment = environment
            change(&purchase)
            _ = try store.purchase(purchase)
        }
        let text = store.receipt(device: device, environment: environment, form: form)
        return try #require(Base64.decode(text))
    }

    func verify(_ bytes: [UInt8], now: Int64 = noon) throws(AppReceiptError) -> AppReceipt {
        try verifier.verify(bytes, now: now)
    }
}

/// What the store says of a purchase made at noon, written out.
func expectedPurchase(
    _ id: String = "T1", quantity: Int64 = 1, environment: StoreEnvironment = .production,
    revocation: StoreRevocation? = nil
) throws -> StoreTransaction {
    try StoreTransaction(
        transactionID: id, originalTransactionID: id, bundleID: "com.nonchalant",
        productID: "com.nonchalant.consumable1", quantity: quantity, environment: environment,
        purchaseDate: noon, originalPurchaseDate: noon, type: "Consumable", revocation: revocation)
}
