package import Base

/// How far a sale is.
package enum StandInSaleState: String, Hashable, Sendable {
    /// Ask to Buy: a parent has to approve it.
    case deferred
    /// The customer has to do something outside of the app first, such as agree to new terms.
    case interrupted
    case declined
    case purchased
}

/// Why a sale isn't made at once.
package enum PendingReason: Hashable, Sendable {
    case askToBuy
    case interruption

    var state: StandInSaleState { self == .askToBuy ? .deferred : .interrupted }
}

/// Money that went back to the customer.
package struct StandInRefund: Hashable, Sendable {
    /// Milliseconds since 1970.
    package let date: Int64
    /// Thousandths of a per cent of the price, 1 to 100000.
    package let percentage: Int64
    /// 0 for another reason, 1 for an issue in the app.
    package let reason: Int64

    package static let wholePercentage: Int64 = 100_000

    func append(to object: inout JSONObject) {
        object.append("revocationDate", .integer(date))
        object.append("revocationReason", .integer(reason))
        let isWhole = percentage == StandInRefund.wholePercentage
        object.append("revocationType", isWhole ? "REFUND_FULL" : "REFUND_PRORATED")
        object.append("revocationPercentage", .integer(percentage))
    }
}

/// What the store was told of the consumption of a purchase.
package struct ConsumptionAnswers: Hashable, Sendable {
    package private(set) var count = 0
    /// The body of the latest one.
    package private(set) var latest: JSON?

    mutating func add(_ information: JSON) {
        count += 1
        latest = information
    }
}

extension JSONObject {
    /// With the members of `changes` instead of those of the same names; null takes one away.
    func replacing(_ changes: JSONObject) -> JSONObject {
        let kept = members.filter { changes[$0.name] == nil }
        return JSONObject(kept + changes.members.filter { $0.value != .null })
    }
}
