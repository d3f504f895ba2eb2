extension StoreTransaction {
    private enum Attribute {
        static let quantity: Int64 = 1701
        static let productID: Int64 = 1702
        static let transactionID: Int64 = 1703
        static let purchaseDate: Int64 = 1704
        static let originalTransactionID: Int64 = 1705
        static let originalPurchaseDate: Int64 = 1706
        static let productType: Int64 = 1707
        static let expiryDate: Int64 = 1708
        static let cancellationDate: Int64 = 1712
    }

    /// Genuine purchases have 22.
    private static let attributesMax = 200

    /// Reads one purchase of an app receipt, in `place` of `bytes`.
    ///
    /// Returns nil for what can't be a consumable: what expires, and what is said to be of another
    /// type. Such purchases stay in receipts for ever, and concern nobody here.
    ///
    /// - Throws: `InvalidStoreField` with the name that verifyReceipt calls the field.
    init?(
        receiptPurchase bytes: [UInt8], _ place: Range<Int>, bundleID: String,
        environment: StoreEnvironment
    ) throws(InvalidStoreField) {
        let attributes = try StoreTransaction.attributes(bytes, place)
        let type = ReceiptProductType(try attributes.integer(Attribute.productType, "product_type"))
        guard try attributes.instant(Attribute.expiryDate, "expires_date") == nil,
            type != .notConsumable
        else { return nil }
        guard let id = try attributes.text(Attribute.transactionID, "transaction_id") else {
            throw InvalidStoreField("transaction_id")
        }
        guard let productID = try attributes.text(Attribute.productID, "product_id") else {
            throw InvalidStoreField("product_id")
        }
        guard let purchaseDate = try attributes.instant(Attribute.purchaseDate, "purchase_date")
        else { throw InvalidStoreField("purchase_date") }
        let cancellation = try attributes.instant(Attribute.cancellationDate, "cancellation_date")
        let revocation = try cancellation.map { date throws(InvalidStoreField) in
            try StoreRevocation(date: date)
        }
        try self.init(
            transactionID: id,
            originalTransactionID: attributes.text(
                Attribute.originalTransactionID, "original_transaction_id"),
            bundleID: bundleID, productID: productID,
            quantity: attributes.integer(Attribute.quantity, "quantity") ?? 1,
            environment: environment, purchaseDate: purchaseDate,
            originalPurchaseDate: attributes.instant(
                Attribute.originalPurchaseDate, "original_purchase_date"),
            type: type == .consumable ? "Consumable" : nil, revocation: revocation)
    }

    private static func attributes(
        _ bytes: [UInt8], _ place: Range<Int>
    ) throws(InvalidStoreField) -> ReceiptAttributes {
        do throws(InvalidStoreField) {
            return try ReceiptAttributes(bytes, place, attributesMax: attributesMax)
        } catch {
            throw InvalidStoreField("in_app")
        }
    }
}

/// What attribute 1707 says, which Apple doesn't document.
private enum ReceiptProductType {
    case consumable
    case notConsumable
    /// Nothing, or a number that didn't exist when this was written: the catalogue decides then.
    case unknown

    init(_ number: Int64?) {
        switch number {
        case 1: self = .consumable
        // Bought once for good, a subscription that isn't renewed, one that is, one for nothing.
        case 0, 2, 3, 4: self = .notConsumable
        default: self = .unknown
        }
    }
}
