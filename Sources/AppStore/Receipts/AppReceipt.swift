/// An app receipt that the App Store has made: a snapshot of what a device had not finished then.
///
/// Whether it's for this app, and which of its transactions count, is for the caller to see.
package struct AppReceipt: Hashable, Sendable {
    package let environment: StoreEnvironment
    package let bundleID: String
    /// The app's number in the store; 0 in the sandbox.
    package let appID: Int64?
    /// Milliseconds since 1970.
    package let createdAt: Int64
    /// Everything that may be a consumable, each id once; empty for a stale receipt.
    package let transactions: [StoreTransaction]

    /// Receipts with 187 purchases were seen.
    package static let transactionsMax = 10_000
}

extension AppReceipt {
    /// Attributes beside those that are purchases; genuine receipts have about 25.
    private static let otherAttributesMax = 1000
    /// Payloads are wrapped once more than needed by some, hardly ever twice.
    private static let wrappingsMax = 2

    private enum Attribute {
        static let type: Int64 = 0
        static let appID: Int64 = 1
        static let bundleID: Int64 = 2
        static let createdAt: Int64 = 12
        static let purchase: Int64 = 17
    }

    /// Reads what a receipt's signature is around. Says nothing of that signature.
    ///
    /// - Throws: `InvalidStoreField` naming the field; it's empty if the payload as a whole isn't
    ///   a set of attributes.
    init(payload bytes: [UInt8]) throws(InvalidStoreField) {
        let bytes = try AppReceipt.unwrapped(bytes)
        let attributes = try ReceiptAttributes(
            bytes, bytes.indices,
            attributesMax: AppReceipt.transactionsMax + AppReceipt.otherAttributesMax)
        guard let type = try attributes.text(Attribute.type, "receipt_type") else {
            throw InvalidStoreField("receipt_type")
        }
        guard let bundleID = try attributes.text(Attribute.bundleID, "bundle_id") else {
            throw InvalidStoreField("bundle_id")
        }
        guard let createdAt = try attributes.instant(Attribute.createdAt, "receipt_creation_date")
        else { throw InvalidStoreField("receipt_creation_date") }
        environment = StoreEnvironment(receiptType: type)
        self.bundleID = try StoreFieldLimits.name("bundle_id", bundleID)
        appID = try attributes.integer(Attribute.appID, "app_item_id")
        self.createdAt = try StoreFieldLimits.instant("receipt_creation_date", createdAt)
        let purchases = attributes.all(Attribute.purchase)
        guard purchases.count <= AppReceipt.transactionsMax else {
            throw InvalidStoreField("in_app")
        }
        var transactions = UniqueTransactions()
        for place in purchases {
            let transaction = try StoreTransaction(
                receiptPurchase: bytes, place, bundleID: bundleID, environment: environment)
            if let transaction { transactions.add(transaction) }
        }
        self.transactions = transactions.all
    }

    /// The set of attributes out of the octet string that it may be in.
    private static func unwrapped(_ bytes: [UInt8]) throws(InvalidStoreField) -> [UInt8] {
        var bytes = bytes
        do throws(DERError) {
            for _ in 0..<wrappingsMax {
                guard
                    bytes.first == DERElement.Tag.octetString
                        || bytes.first == DERElement.Tag.octetStrings
                else { break }
                var reader = DERReader(bytes)
                guard let element = try reader.next() else { throw .malformed }
                try reader.expectEnd()
                bytes = try DERValues.octets(element, in: bytes)
            }
            return bytes
        } catch {
            throw InvalidStoreField("")
        }
    }
}

extension StoreEnvironment {
    /// From attribute 0, which Apple doesn't document but every receipt has.
    init(receiptType: String) {
        switch receiptType {
        case "Production", "ProductionVPP": self = .production
        case "ProductionSandbox", "ProductionVPPSandbox": self = .sandbox
        case "Xcode": self = .xcode
        default: self = .other(receiptType)
        }
    }
}
