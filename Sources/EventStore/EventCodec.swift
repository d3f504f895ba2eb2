import Base
package import CoinLedger

/// Turns events into the payloads they are stored as, and back.
///
/// Names and payloads are for ever: a change of a payload is a new schema version, and reading the
/// old one stays here.
package enum EventCodec {
    package struct Encoded: Sendable {
        package let type: String
        package let schemaVersion: Int64
        package let payload: [UInt8]
    }

    /// A payload that no event of that type and schema version has.
    package struct Unreadable: Error, Hashable, Sendable {
        package let type: String
        package let schemaVersion: Int64
        package let reason: String
    }

    /// The one type of event that makes lots, for those who look for nothing else.
    package static let coinsGrantedType = "CoinsGranted"

    package static func encode(_ event: Event) -> Encoded {
        switch event {
        case .purchaseRecorded(let event):
            Encoded(type: "PurchaseRecorded", schemaVersion: 1, payload: payload(event))
        case .coinsGranted(let event):
            Encoded(type: coinsGrantedType, schemaVersion: 1, payload: payload(event))
        case .appAccountTokenLinked(let token):
            Encoded(
                type: "AppAccountTokenLinked", schemaVersion: 1,
                payload: (["appAccountToken": .string(token.text)] as JSON).bytes)
        }
    }

    package static func decode(_ stored: StoredEvent) throws(Unreadable) -> Event {
        func unreadable(_ reason: String) -> Unreadable {
            Unreadable(type: stored.type, schemaVersion: stored.schemaVersion, reason: reason)
        }
        do throws(PayloadError) {
            let payload = try Payload(stored.payload)
            switch (stored.type, stored.schemaVersion) {
            case ("PurchaseRecorded", 1): return .purchaseRecorded(try purchaseRecorded(payload))
            case ("CoinsGranted", 1): return .coinsGranted(try coinsGranted(payload))
            case ("AppAccountTokenLinked", 1):
                return .appAccountTokenLinked(
                    try payload.value("appAccountToken", AppAccountToken.init))
            default: throw .malformed("no such type and schema version")
            }
        } catch {
            switch error {
            case .malformed(let reason): throw unreadable(reason)
            }
        }
    }

    /// The payload of a `CoinsGranted` alone, as a claim on a purchase points at it.
    package static func coinsGranted(_ payload: [UInt8]) throws(Unreadable) -> CoinsGranted {
        do throws(PayloadError) {
            return try coinsGranted(try Payload(payload))
        } catch {
            switch error {
            case .malformed(let reason):
                throw Unreadable(type: "CoinsGranted", schemaVersion: 1, reason: reason)
            }
        }
    }

    private static func payload(_ event: PurchaseRecorded) -> [UInt8] {
        let purchase = event.purchase
        var object = JSONObjectWriter()
        write(purchase.key, to: &object)
        object.member("originalTransactionId", purchase.originalTransactionID.text)
        object.member("productId", purchase.productID)
        object.member("quantity", purchase.quantity)
        if let price = purchase.price {
            object.member("priceMilliunits", price.milliunits)
            object.member("currency", price.currency)
        }
        object.member("storefront", purchase.storefront)
        object.member("purchasedAt", purchase.purchasedAt.description)
        object.member("signedAt", purchase.signedAt?.description)
        object.member("appAccountToken", purchase.appAccountToken?.text)
        object.member("catalogueVersion", event.catalogueVersion)
        return object.finish()
    }

    private static func write(_ key: PurchaseKey, to object: inout JSONObjectWriter) {
        object.member("store", key.store.rawValue)
        object.member("environment", key.environment.rawValue)
        object.member("transactionId", key.transactionID.text)
    }

    private static func purchaseRecorded(
        _ payload: Payload
    ) throws(PayloadError) -> PurchaseRecorded {
        var price: StatedPrice?
        if let milliunits = try payload.optional("priceMilliunits", \JSON.integer) {
            price = StatedPrice(milliunits: milliunits, currency: try payload.string("currency"))
        }
        let purchase = Purchase(
            key: try purchaseKey(payload),
            originalTransactionID: try payload.value("originalTransactionId", TransactionID.init),
            productID: try payload.string("productId"),
            quantity: try payload.count("quantity"), price: price,
            storefront: try payload.optional("storefront", \JSON.string),
            purchasedAt: try payload.value("purchasedAt", Timestamp.init),
            signedAt: try payload.optionalValue("signedAt", Timestamp.init),
            appAccountToken: try payload.optionalValue("appAccountToken", AppAccountToken.init))
        return PurchaseRecorded(
            purchase: purchase, catalogueVersion: try payload.string("catalogueVersion"))
    }

    private static func purchaseKey(_ payload: Payload) throws(PayloadError) -> PurchaseKey {
        PurchaseKey(
            store: try payload.value("store", Store.init(rawValue:)),
            environment: try payload.value("environment", Environment.init(rawValue:)),
            transactionID: try payload.value("transactionId", TransactionID.init))
    }

    private static func payload(_ event: CoinsGranted) -> [UInt8] {
        var object = JSONObjectWriter()
        object.member("environment", event.environment.rawValue)
        object.object("source") { source in
            switch event.source {
            case .purchase(let key):
                source.member("type", "purchase")
                write(key, to: &source)
            }
        }
        object.objects("lots", event.lots) { object, lot in
            object.member("number", lot.number)
            object.member("kind", lot.kind.rawValue)
            object.member("coins", lot.coins.amount)
            object.member("expiresAt", lot.expiresAt?.description)
        }
        return object.finish()
    }

    private static func coinsGranted(_ payload: Payload) throws(PayloadError) -> CoinsGranted {
        let source = try payload.payload("source")
        guard try source.string("type") == "purchase" else {
            throw .malformed("source.type")
        }
        var lots: [Lot] = []
        for lot in try payload.payloads("lots") {
            lots.append(
                Lot(
                    number: try lot.count("number"),
                    kind: try lot.value("kind", Lot.Kind.init(rawValue:)),
                    coins: try lot.coins("coins"),
                    expiresAt: try lot.optionalValue("expiresAt", Timestamp.init)))
        }
        guard !lots.isEmpty else { throw .malformed("lots") }
        return CoinsGranted(
            environment: try payload.value("environment", Environment.init(rawValue:)),
            source: .purchase(try purchaseKey(source)), lots: lots)
    }
}
