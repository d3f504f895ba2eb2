/// The store's name of an order, as its invoice to the customer has it: 1 to 64 of
/// `A–Z a–z 0–9 . _ -`.
package struct OrderID: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    package init?(_ text: String) {
        // An order's name is made of what a transaction's is.
        guard let id = TransactionID(text) else { return nil }
        self.text = id.text
    }

    package var description: String { text }
}

/// What the store says that an order of it holds, in the account of what nobody has.
package struct OrderRecorded: Hashable, Sendable {
    package let id: OrderID
    /// None, if the order is one of the store's, but holds nothing of ours.
    package let purchases: [OrderedPurchase]

    package init(id: OrderID, purchases: [OrderedPurchase]) {
        self.id = id
        self.purchases = purchases
    }
}

/// One purchase of an order.
package struct OrderedPurchase: Hashable, Sendable {
    package let key: PurchaseKey
    package let productID: String
    package let purchasedAt: Timestamp

    package init(key: PurchaseKey, productID: String, purchasedAt: Timestamp) {
        self.key = key
        self.productID = productID
        self.purchasedAt = purchasedAt
    }
}
