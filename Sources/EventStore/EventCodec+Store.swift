import Base
import CoinLedger

/// What is known for talking to the store: consent and orders.
extension EventCodec {
    static func payload(_ event: ConsentRecorded) -> [UInt8] {
        var object = JSONObjectWriter()
        object.member("consented", event.isGiven)
        return object.finish()
    }

    static func consentRecorded(_ payload: Payload) throws(PayloadError) -> ConsentRecorded {
        ConsentRecorded(isGiven: try payload.bool("consented"))
    }

    static func payload(_ event: OrderRecorded) -> [UInt8] {
        var object = JSONObjectWriter()
        object.member("orderId", event.id.text)
        object.objects("purchases", event.purchases) { purchase, value in
            purchase.members(value.key)
            purchase.member("productId", value.productID)
            purchase.member("purchasedAt", value.purchasedAt.description)
        }
        return object.finish()
    }

    static func orderRecorded(_ payload: Payload) throws(PayloadError) -> OrderRecorded {
        OrderRecorded(
            id: try payload.value("orderId", OrderID.init),
            purchases: try payload.list("purchases") { (purchase) throws(PayloadError) in
                OrderedPurchase(
                    key: try purchase.purchaseKey(), productID: try purchase.string("productId"),
                    purchasedAt: try purchase.value("purchasedAt", Timestamp.init))
            })
    }
}
