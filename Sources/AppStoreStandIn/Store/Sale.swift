import Base

/// One transaction of the stand-in, with what has become of it.
struct Sale: Sendable {
    let transactionID: String
    let originalTransactionID: String
    let environment: String
    let device: String
    let bundleID: String
    /// Nil in the sandbox, whose purchases have no invoice.
    let orderID: String?
    /// For a pending one when it was begun, until it's approved.
    private(set) var purchaseDate: Int64
    private(set) var state: StandInSaleState
    private(set) var refund: StandInRefund?
    private(set) var consumption = ConsumptionAnswers()
    private(set) var isFinished = false
    /// Counts every change of every sale, so that the latest change is the last in a history.
    private(set) var revision: Int64 = 0
    private(set) var purchase: StandInPurchase

    init(
        _ purchase: StandInPurchase, transactionID: String, bundleID: String,
        environment: String, state: StandInSaleState, at instant: Int64
    ) {
        self.purchase = purchase
        self.transactionID = transactionID
        originalTransactionID = purchase.originalTransactionID ?? transactionID
        self.bundleID = purchase.fault == .wrongBundle ? PurchaseFault.wrongBundleID : bundleID
        self.environment = environment
        self.state = state
        device = purchase.device
        purchaseDate = instant
        orderID =
            purchase.orderID
            ?? (environment == StoreName.production ? Sale.orderID(transactionID) : nil)
    }

    mutating func touch(_ revision: Int64) { self.revision = revision }

    mutating func approve(at instant: Int64) {
        state = .purchased
        purchaseDate = instant
    }

    mutating func decline() { state = .declined }
    mutating func finish() { isFinished = true }
    mutating func setRefund(_ refund: StandInRefund?) { self.refund = refund }
    mutating func setAppAccountToken(_ token: String) { purchase.appAccountToken = token }
    mutating func add(consumption information: JSON) { consumption.add(information) }

    /// The payload of the signed transaction.
    func payload(signedAt instant: Int64) -> JSONObject {
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
        if let code = purchase.offerCode {
            object.append("offerType", 3)
            object.append("offerIdentifier", .string(code))
            object.append("offerDiscountType", "ONE_TIME")
        }
        refund?.append(to: &object)
        return object.replacing(purchase.payload)
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

    /// 120 yen each; nothing with an offer code.
    private var defaultPrice: Int64 {
        if purchase.offerCode != nil { return 0 }
        return purchase.quantity.multipliedReportingOverflow(by: 120_000).partialValue
    }

    /// Such as `MKJ8L7QZ2P`: another one for every transaction.
    private static func orderID(_ transactionID: String) -> String {
        let digits = Array("BCDFGHJKLMNPQRSTVWXYZ0123456789".utf8)
        // FNV-1a, since nothing but the looks of it matters.
        var number: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in transactionID.utf8 { number = (number ^ UInt64(byte)) &* 0x100_0000_01b3 }
        var text: [UInt8] = [UInt8(ascii: "M")]
        for _ in 0..<12 {
            text.append(digits[Int(number % UInt64(digits.count))])
            number /= UInt64(digits.count)
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// Apple's spellings of the two stores.
enum StoreName {
    static let production = "Production"
    static let sandbox = "Sandbox"
}
