import Base

/// What a signed transaction that isn't trusted says it is: something to search by, and nothing to
/// believe.
package struct ClaimedTransaction: Hashable, Sendable {
    package let transactionID: String
    package let productID: String?
    package let environment: StoreEnvironment?
    /// Milliseconds since 1970.
    package let purchaseDate: Int64?

    /// Nil if `text` has not the form of a signed transaction, or names none.
    package init?(_ text: String) {
        typealias Limits = StoreFieldLimits
        guard let jws = try? CompactJWS(text), let object = (try? JSON.parse(jws.payload))?.object
        else { return nil }
        let fields = StoreFields(object)
        guard let id = (try? fields.text("transactionId")).flatMap(\.self),
            let transactionID = try? Limits.identifier("transactionId", id)
        else { return nil }
        self.transactionID = transactionID
        productID = (try? fields.text("productId")).flatMap(\.self)
            .flatMap { try? Limits.name("productId", $0) }
        environment = (try? fields.text("environment")).flatMap(\.self).map { StoreEnvironment($0) }
        purchaseDate = (try? fields.instant("purchaseDate")).flatMap(\.self)
            .flatMap { try? Limits.instant("purchaseDate", $0) }
    }
}
