package import Base

/// What the store is told about a purchase when the customer asks for a refund, if the customer has
/// consented to it.
///
/// Source: developer.apple.com, ConsumptionRequest (Send Consumption Information, version 2).
package struct ConsumptionInformation: Hashable, Sendable {
    /// Whether the customer got what was bought.
    package enum DeliveryStatus: String, Sendable {
        case delivered = "DELIVERED"
        case wrongItem = "UNDELIVERED_WRONG_ITEM"
        case qualityIssue = "UNDELIVERED_QUALITY_ISSUE"
        case serverOutage = "UNDELIVERED_SERVER_OUTAGE"
        case undelivered = "UNDELIVERED_OTHER"
    }

    /// What we would like the store to decide; it decides by itself.
    package enum RefundPreference: String, Sendable {
        case decline = "DECLINE"
        case grantFull = "GRANT_FULL"
        case grantProrated = "GRANT_PRORATED"
    }

    package let deliveryStatus: DeliveryStatus
    package let sampleContentProvided: Bool
    /// How much of it was used, in thousandths of a per cent.
    package let consumptionPercentage: Int64?
    package let refundPreference: RefundPreference?

    package static let percentageMax: Int64 = 100_000

    /// Nil for what the store would refuse: a percentage of something that wasn't delivered, or a
    /// prorated refund of something that wasn't used.
    ///
    /// - Parameter consumptionPercentage: in thousandths of a per cent, from 0 to 100,000.
    package init?(
        deliveryStatus: DeliveryStatus, sampleContentProvided: Bool = false,
        consumptionPercentage: Int64?, refundPreference: RefundPreference?
    ) {
        let percentage = consumptionPercentage ?? 0
        guard (0...ConsumptionInformation.percentageMax).contains(percentage),
            percentage == 0 || deliveryStatus == .delivered,
            percentage > 0 || refundPreference != .grantProrated
        else { return nil }
        self.deliveryStatus = deliveryStatus
        self.sampleContentProvided = sampleContentProvided
        self.consumptionPercentage = consumptionPercentage
        self.refundPreference = refundPreference
    }

    /// Reads what `json` has written; nil for anything else.
    package init?(json: JSON) {
        guard json["customerConsented"]?.bool == true,
            let status = json["deliveryStatus"]?.string.flatMap(DeliveryStatus.init(rawValue:)),
            let sample = json["sampleContentProvided"]?.bool
        else { return nil }
        let percentage = json["consumptionPercentage"]
        let preference = json["refundPreference"]
        guard percentage == nil || percentage?.integer != nil else { return nil }
        let known = preference?.string.flatMap(RefundPreference.init(rawValue:))
        guard preference == nil || known != nil else { return nil }
        self.init(
            deliveryStatus: status, sampleContentProvided: sample,
            consumptionPercentage: percentage?.integer, refundPreference: known)
    }

    /// The body that is sent. Without the customer's consent nothing may be.
    package var json: JSON {
        var members = JSONObject([
            .init("customerConsented", true),
            .init("deliveryStatus", .string(deliveryStatus.rawValue)),
            .init("sampleContentProvided", .bool(sampleContentProvided)),
        ])
        members.append("consumptionPercentage", consumptionPercentage.map { .integer($0) })
        members.append("refundPreference", refundPreference.map { .string($0.rawValue) })
        return .object(members)
    }
}
