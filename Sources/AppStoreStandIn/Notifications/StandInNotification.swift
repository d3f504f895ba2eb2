package import Base

/// A server notification to be made (V2). What isn't said is as in an ordinary one.
///
/// Source: developer.apple.com, responseBodyV2DecodedPayload.
package struct StandInNotification: Sendable {
    /// Such as `REFUND`; any text.
    package var type: String
    package var subtype: String?
    /// Whose transaction it carries; none if nil, as in `TEST`.
    package var transactionID: String?
    /// A new one if nil.
    package var uuid: String?
    /// When the notification was signed, and by default its transaction too; now if nil.
    package var signedDate: Int64?
    /// Apple's spelling; that of the transaction, or of the store, if nil.
    package var environment: String?
    package var consumptionRequestReason: String?
    /// What is wrong with the notification's own signature, or its bundle.
    package var fault: PurchaseFault?
    /// What is wrong with the signature of the transaction inside, or its bundle.
    package var innerFault: PurchaseFault?
    /// Members that replace those of the payload, of its data and of the transaction; null takes
    /// one away.
    package var payload = JSONObject()
    package var data = JSONObject()
    package var transaction = JSONObject()

    package init(_ type: String, of transactionID: String? = nil) {
        self.type = type
        self.transactionID = transactionID
    }
}

/// A notification as it's sent.
package struct SignedNotification: Hashable, Sendable {
    package let uuid: String
    package let type: String
    package let subtype: String?
    package let environment: String
    package let transactionID: String?
    package let originalTransactionID: String?
    package let signedDate: Int64
    package let signedPayload: String

    /// The body of the request.
    package var body: JSON { ["signedPayload": .string(signedPayload)] }
}

extension StandInStore {
    /// Makes a notification without sending it, and returns its signed payload.
    ///
    /// The transaction inside is the sale as it is now: see `refund` and its kin for those that
    /// change it.
    ///
    /// - Throws: `.unknownTransaction`, and `.wrongState` for a sale that wasn't made.
    package func notification(
        _ type: String, of transactionID: String? = nil,
        _ change: (inout StandInNotification) -> Void = { _ in }
    ) throws(StandInStoreError) -> String {
        var notification = StandInNotification(type, of: transactionID)
        change(&notification)
        return try sign(notification).signedPayload
    }

    /// Makes a notification without sending it.
    package func sign(
        _ notification: StandInNotification
    ) throws(StandInStoreError) -> SignedNotification {
        var sale: Sale?
        if let transactionID = notification.transactionID {
            sale = try state.withLock { state throws(StandInStoreError) in
                try StandInStore.purchased(transactionID, in: state)
            }
        }
        let signedDate = notification.signedDate ?? now()
        let environment =
            notification.environment ?? sale?.environment ?? configuration.environment
        let uuid = notification.uuid ?? RandomID.uuid()
        let inner = sale.map { signInner($0, notification, at: signedDate) }
        var payload = JSONObject([.init("notificationType", .string(notification.type))])
        payload.append("subtype", notification.subtype.map { .string($0) })
        payload.append("notificationUUID", .string(uuid))
        payload.append("data", .object(data(notification, sale, inner, environment)))
        payload.append("version", "2.0")
        payload.append("signedDate", .integer(signedDate))
        return SignedNotification(
            uuid: uuid, type: notification.type, subtype: notification.subtype,
            environment: environment, transactionID: sale?.transactionID,
            originalTransactionID: sale?.originalTransactionID, signedDate: signedDate,
            signedPayload: sign(
                .object(payload.replacing(notification.payload)), fault: notification.fault))
    }

    /// Makes a notification and sends it, if there's a target for it; nil if there's none.
    ///
    /// - Throws: `.full` if as many notifications as may be are under way.
    @discardableResult
    package func send(
        _ notification: StandInNotification, testToken: String? = nil
    ) throws(StandInStoreError) -> SignedNotification? {
        let sale = notification.transactionID.flatMap { id in state.withLock { $0.sales[id] } }
        let environment =
            notification.environment ?? sale?.environment ?? configuration.environment
        guard notifications.target(environment) != nil else { return nil }
        guard notifications.hasRoom else { throw .full }
        var notification = notification
        notifications.applyFaults(to: &notification)
        let signed = try sign(notification)
        guard notifications.send(signed, testToken: testToken) else { throw .full }
        return signed
    }

    private func data(
        _ notification: StandInNotification, _ sale: Sale?, _ inner: String?,
        _ environment: String
    ) -> JSONObject {
        var bundleID = sale?.bundleID ?? configuration.bundleID
        if notification.fault == .wrongBundle { bundleID = PurchaseFault.wrongBundleID }
        var data = JSONObject()
        if environment == StoreName.production {
            data.append("appAppleId", .integer(configuration.appAppleID))
        }
        data.append("bundleId", .string(bundleID))
        data.append("bundleVersion", "1")
        data.append("environment", .string(environment))
        data.append("signedTransactionInfo", inner.map { .string($0) })
        data.append(
            "consumptionRequestReason", notification.consumptionRequestReason.map { .string($0) })
        return data.replacing(notification.data)
    }

    private func signInner(
        _ sale: Sale, _ notification: StandInNotification, at signedDate: Int64
    ) -> String {
        var payload = sale.payload(signedAt: signedDate)
        if notification.innerFault == .wrongBundle {
            payload = payload.replacing(
                JSONObject([.init("bundleId", .string(PurchaseFault.wrongBundleID))]))
        }
        payload = payload.replacing(notification.transaction)
        return sign(.object(payload), fault: notification.innerFault)
    }
}
