import Base

/// What the App Store tells of its own accord, as the outer payload of a notification states it.
///
/// Its texts are bounded and printable. Types and subtypes that didn't exist when this was written
/// are kept as they came. Instants are milliseconds since 1970.
///
/// Source: developer.apple.com, App Store Server Notifications, responseBodyV2DecodedPayload.
package struct StoreNotification: Hashable, Sendable {
    /// Names the notification, however often it's sent; in lower case.
    package let uuid: String
    /// Such as `REFUND`.
    package let type: String
    package let subtype: String?
    package let signedDate: Int64
    package let environment: StoreEnvironment
    package let bundleID: String
    /// The app's number in the store; the store leaves it out of the sandbox's.
    package let appAppleID: Int64?
    /// Why a customer wants their money back, in a `CONSUMPTION_REQUEST`.
    package let consumptionRequestReason: String?
    /// A signed transaction, to be verified on its own; nil where the notification is of none.
    package let signedTransaction: String?

    /// The only version that's known.
    package static let version = "2.0"

    /// Reads the payload of a notification. Says nothing of its signature.
    ///
    /// - Throws: `InvalidStoreField` naming the first field that is missing or out of bounds.
    package init(signedPayload: [UInt8]) throws(InvalidStoreField) {
        guard let object = (try? JSON.parse(signedPayload))?.object else {
            throw InvalidStoreField("")
        }
        let fields = StoreFields(object)
        typealias Limits = StoreFieldLimits
        type = try Limits.name(
            "notificationType",
            fields.required("notificationType", fields.text("notificationType")))
        subtype = try Limits.text("subtype", fields.text("subtype"))
        uuid = try Limits.uuid(
            "notificationUUID",
            fields.required("notificationUUID", fields.text("notificationUUID")))
        guard try fields.text("version") == StoreNotification.version else {
            throw InvalidStoreField("version")
        }
        signedDate = try Limits.instant(
            "signedDate", fields.required("signedDate", fields.instant("signedDate")))
        let about = try StoreNotification.about(object)
        bundleID = try Limits.name(
            "bundleId", about.required("bundleId", about.text("bundleId")))
        appAppleID = try about.integer("appAppleId")
        environment = try StoreNotification.environment(about)
        consumptionRequestReason = try Limits.text(
            "consumptionRequestReason", about.text("consumptionRequestReason"))
        signedTransaction = try about.text("signedTransactionInfo")
    }

    /// What says which app it is about: every type has one of four such objects.
    private static func about(_ object: JSONObject) throws(InvalidStoreField) -> StoreFields {
        for name in ["data", "summary", "externalPurchaseToken", "appData"] {
            switch object[name] {
            case nil, .null: continue
            case .object(let about): return StoreFields(about)
            default: throw InvalidStoreField(name)
            }
        }
        throw InvalidStoreField("data")
    }

    /// A token of a purchase elsewhere states its environment by how its id begins.
    private static func environment(
        _ about: StoreFields
    ) throws(InvalidStoreField) -> StoreEnvironment {
        if let id = try about.text("externalPurchaseId") {
            return id.hasPrefix("SANDBOX") ? .sandbox : .production
        }
        let text = try about.required("environment", about.text("environment"))
        return StoreEnvironment(try StoreFieldLimits.name("environment", text))
    }
}
