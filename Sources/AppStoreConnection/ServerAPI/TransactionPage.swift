/// Some of a customer's transactions, up to 20, each signed on its own and not verified here.
package struct TransactionPage: Hashable, Sendable {
    package let signedTransactions: [String]
    /// Where the next page begins, now or whenever there is more.
    package let revision: String?
    package let hasMore: Bool

    package init(signedTransactions: [String], revision: String?, hasMore: Bool) {
        self.signedTransactions = signedTransactions
        self.revision = revision
        self.hasMore = hasMore
    }

    init(_ fields: AnswerFields) throws(AppStoreServerError) {
        signedTransactions = try fields.texts("signedTransactions")
        revision = try fields.text("revision")
        hasMore = try fields.required("hasMore", fields.bool("hasMore"))
        if hasMore { _ = try fields.required("revision", revision) }
    }
}

/// Which of a customer's transactions are asked for.
package struct TransactionHistoryQuery: Hashable, Sendable {
    package var productIDs: [String] = []
    /// As Apple spells them in queries; coins are bought as consumables.
    package var productTypes = ["CONSUMABLE"]
    /// Milliseconds since 1970, the first and the last that count.
    package var startDate: Int64?
    package var endDate: Int64?
    /// Only those that were revoked, or only those that weren't.
    package var revoked: Bool?
    package var newestFirst = false

    package init() {}

    var parameters: [(name: String, value: String)] {
        var parameters = productIDs.map { (name: "productId", value: $0) }
        parameters += productTypes.map { (name: "productType", value: $0) }
        if let startDate { parameters.append((name: "startDate", value: "\(startDate)")) }
        if let endDate { parameters.append((name: "endDate", value: "\(endDate)")) }
        if let revoked { parameters.append((name: "revoked", value: "\(revoked)")) }
        parameters.append((name: "sort", value: newestFirst ? "DESCENDING" : "ASCENDING"))
        return parameters
    }
}

/// What the store knows of an order id, which customers find in the store's e-mails.
package struct OrderLookup: Hashable, Sendable {
    /// Whether there is such an order of this app.
    package let isValid: Bool
    /// Each signed on its own and not verified here.
    package let signedTransactions: [String]

    package init(isValid: Bool, signedTransactions: [String]) {
        self.isValid = isValid
        self.signedTransactions = signedTransactions
    }

    init(_ fields: AnswerFields) throws(AppStoreServerError) {
        switch try fields.integer("status") {
        case 0: isValid = true
        case 1: isValid = false
        default: throw .wrongShape(field: "status")
        }
        signedTransactions = isValid ? try fields.texts("signedTransactions") : []
    }
}
