import Base

/// What a receipt that isn't trusted says was bought: something to search by, and nothing to
/// believe.
package struct ClaimedTransaction: Hashable, Sendable {
    package let transactionID: String
    package let productID: String?
    package let environment: StoreEnvironment?
    /// Milliseconds since 1970.
    package let purchaseDate: Int64?

    /// Of one receipt. Those that were bought last are taken.
    package static let countMax = 16

    /// What `text` names, be it a signed transaction or an app receipt; nothing if it's neither.
    ///
    /// Costs as much as verifying it, so it belongs on a `WorkerPool`, too.
    package static func all(in text: String) -> [ClaimedTransaction] {
        switch try? SubmittedReceipt.detect(text) {
        case .signedTransaction(let jws): return ClaimedTransaction(jws).map { [$0] } ?? []
        case .appReceipt(let base64):
            guard let bytes = Base64.decode(base64), let message = try? SignedMessage(bytes),
                let receipt = try? AppReceipt(payload: message.content)
            else { return [] }
            let latest = receipt.transactions.sorted { $0.purchaseDate > $1.purchaseDate }
            return latest.prefix(countMax).map { ClaimedTransaction($0) }
        case nil: return []
        }
    }

    private init(_ transaction: StoreTransaction) {
        transactionID = transaction.transactionID
        productID = transaction.productID
        environment = transaction.environment
        purchaseDate = transaction.purchaseDate
    }

    /// Nil if `jws` can't be read, or names none.
    private init?(_ jws: String) {
        typealias Limits = StoreFieldLimits
        guard let jws = try? CompactJWS(jws), let object = (try? JSON.parse(jws.payload))?.object
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
