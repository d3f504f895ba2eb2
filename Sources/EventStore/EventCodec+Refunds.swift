import Base
import CoinLedger

/// What the store's word on refunds has done.
extension EventCodec {
    static func payload(_ event: PurchaseRefunded) -> [UInt8] {
        var object = JSONObjectWriter()
        object.members(event.purchase)
        object.member("percentageMilliunits", event.percentage)
        object.member("signedAt", event.signedAt.description)
        object.member("shortfallPolicy", event.shortfallPolicy.rawValue)
        object.objects("taken", event.taken) { $0.members($1) }
        object.member("debt", event.debt.amount)
        object.member("writtenOff", event.writtenOff.amount)
        return object.finish()
    }

    static func purchaseRefunded(_ payload: Payload) throws(PayloadError) -> PurchaseRefunded {
        PurchaseRefunded(
            purchase: try payload.purchaseKey(), percentage: try payload.percentage(),
            signedAt: try payload.value("signedAt", Timestamp.init),
            shortfallPolicy: try payload.value(
                "shortfallPolicy", ShortfallPolicy.init(rawValue:)),
            taken: try payload.returnedSlices("taken"), debt: try payload.coins("debt"),
            writtenOff: try payload.coins("writtenOff"))
    }

    static func payload(_ event: RefundReversed) -> [UInt8] {
        var object = JSONObjectWriter()
        object.members(event.purchase)
        object.member("signedAt", event.signedAt.description)
        object.objects("returned", event.returned) { $0.members($1) }
        object.member("debtCleared", event.debtCleared.amount)
        return object.finish()
    }

    static func refundReversed(_ payload: Payload) throws(PayloadError) -> RefundReversed {
        RefundReversed(
            purchase: try payload.purchaseKey(),
            signedAt: try payload.value("signedAt", Timestamp.init),
            returned: try payload.returnedSlices("returned"),
            debtCleared: try payload.coins("debtCleared"))
    }

    static func payload(_ event: DebtPaid) -> [UInt8] {
        var object = JSONObjectWriter()
        object.members(event.purchase)
        object.objects("taken", event.taken) { $0.members($1) }
        return object.finish()
    }

    static func debtPaid(_ payload: Payload) throws(PayloadError) -> DebtPaid {
        DebtPaid(
            purchase: try payload.purchaseKey(), taken: try payload.returnedSlices("taken"))
    }

    static func payload(_ event: RefundWord) -> [UInt8] {
        var object = JSONObjectWriter()
        object.members(event.purchase)
        object.member("percentageMilliunits", event.percentage)
        object.member("signedAt", event.signedAt.description)
        return object.finish()
    }

    static func refundRemembered(_ payload: Payload) throws(PayloadError) -> RefundWord {
        RefundWord(
            purchase: try payload.purchaseKey(), percentage: try payload.percentage(),
            signedAt: try payload.value("signedAt", Timestamp.init))
    }
}
