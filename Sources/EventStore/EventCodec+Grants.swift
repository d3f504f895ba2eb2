import Base
import CoinLedger

/// How coins come in.
extension EventCodec {
    static func payload(_ event: PurchaseRecorded) -> [UInt8] {
        let purchase = event.purchase
        var object = JSONObjectWriter()
        object.members(purchase.key)
        object.member("originalTransactionId", purchase.originalTransactionID.text)
        object.member("productId", purchase.productID)
        object.member("quantity", purchase.quantity)
        object.price(purchase.price)
        object.member("storefront", purchase.storefront)
        object.member("purchasedAt", purchase.purchasedAt.description)
        object.member("signedAt", purchase.signedAt?.description)
        object.member("appAccountToken", purchase.appAccountToken?.text)
        object.member("catalogueVersion", event.catalogueVersion)
        if let redelivery = event.redelivery {
            object.object("redelivery") {
                $0.member("reason", redelivery.reason)
                $0.member("ticketId", redelivery.ticketID)
            }
        }
        return object.finish()
    }

    static func purchaseRecorded(_ payload: Payload) throws(PayloadError) -> PurchaseRecorded {
        let purchase = Purchase(
            key: try payload.purchaseKey(),
            originalTransactionID: try payload.value("originalTransactionId", TransactionID.init),
            productID: try payload.string("productId"),
            quantity: try payload.count("quantity"), price: try payload.price(),
            storefront: try payload.optional("storefront", \JSON.string),
            purchasedAt: try payload.value("purchasedAt", Timestamp.init),
            signedAt: try payload.optionalValue("signedAt", Timestamp.init),
            appAccountToken: try payload.optionalValue("appAccountToken", AppAccountToken.init))
        return PurchaseRecorded(
            purchase: purchase, catalogueVersion: try payload.string("catalogueVersion"),
            redelivery: try redelivery(payload))
    }

    private static func redelivery(_ payload: Payload) throws(PayloadError) -> Redelivery? {
        guard payload.has("redelivery") else { return nil }
        let redelivery = try payload.payload("redelivery")
        return Redelivery(
            reason: try redelivery.string("reason"), ticketID: try redelivery.string("ticketId"))
    }

    static func payload(_ token: AppAccountToken) -> [UInt8] {
        var object = JSONObjectWriter()
        object.member("appAccountToken", token.text)
        return object.finish()
    }

    static func payload(_ event: CoinsGranted) -> [UInt8] {
        var object = JSONObjectWriter()
        object.member("environment", event.environment.rawValue)
        object.object("source") { source in
            switch event.source {
            case .purchase(let key):
                source.member("type", "purchase")
                source.members(key)
            case .gift(let reason, let campaignID):
                source.member("type", "gift")
                source.member("reason", reason)
                source.member("campaignId", campaignID)
            }
        }
        object.objects("lots", event.lots) { $0.members($1) }
        return object.finish()
    }

    static func coinsGranted(_ payload: Payload) throws(PayloadError) -> CoinsGranted {
        let lots = try payload.list("lots") { (lot) throws(PayloadError) in try lot.lot() }
        guard !lots.isEmpty else { throw .malformed("lots") }
        return CoinsGranted(
            environment: try payload.environment(),
            source: try source(try payload.payload("source")), lots: lots)
    }

    private static func source(_ payload: Payload) throws(PayloadError) -> CoinsGranted.Source {
        switch try payload.string("type") {
        case "purchase": .purchase(try payload.purchaseKey())
        case "gift":
            .gift(
                reason: try payload.string("reason"),
                campaignID: try payload.optional("campaignId", \JSON.string))
        default: throw .malformed("source.type")
        }
    }

    static func payload(_ event: CoinsAdjusted) -> [UInt8] {
        var object = JSONObjectWriter()
        object.member("environment", event.environment.rawValue)
        switch event.change {
        case .added(let lot): object.object("added") { $0.members(lot) }
        case .removed(let slices): object.objects("removed", slices) { $0.members($1) }
        }
        object.member("reason", event.reason)
        object.member("ticketId", event.ticketID)
        return object.finish()
    }

    static func coinsAdjusted(_ payload: Payload) throws(PayloadError) -> CoinsAdjusted {
        let change: CoinsAdjusted.Change
        if payload.has("added") {
            change = .added(try payload.payload("added").lot())
        } else {
            change = .removed(try payload.slices("removed"))
        }
        return CoinsAdjusted(
            environment: try payload.environment(), change: change,
            reason: try payload.string("reason"), ticketID: try payload.string("ticketId"))
    }
}
