import Base
import CoinLedger

/// How coins go out, and come back.
extension EventCodec {
    static func payload(_ event: CoinsSpent) -> [UInt8] {
        var object = JSONObjectWriter()
        object.member("environment", event.environment.rawValue)
        object.member("coins", event.coins.amount)
        object.object("purpose") { $0.members(event.purpose) }
        object.member("hold", event.hold?.description)
        object.member("order", event.order.rawValue)
        object.member("policyVersion", event.policyVersion)
        object.objects("slices", event.slices) { $0.members($1) }
        return object.finish()
    }

    static func coinsSpent(_ payload: Payload) throws(PayloadError) -> CoinsSpent {
        CoinsSpent(
            environment: try payload.environment(), coins: try payload.coins("coins"),
            purpose: try payload.payload("purpose").purpose(),
            hold: try payload.optionalValue("hold", EventID.init),
            order: try payload.value("order", ConsumptionOrder.init(rawValue:)),
            policyVersion: try payload.string("policyVersion"),
            slices: try payload.slices("slices"))
    }

    static func payload(_ event: SpendReversed) -> [UInt8] {
        var object = JSONObjectWriter()
        object.member("environment", event.environment.rawValue)
        object.member("spend", event.spend.description)
        object.member("reason", event.reason)
        object.objects("returned", event.returned) { $0.members($1) }
        object.objects("lapsed", event.lapsed) { $0.members($1) }
        return object.finish()
    }

    static func spendReversed(_ payload: Payload) throws(PayloadError) -> SpendReversed {
        SpendReversed(
            environment: try payload.environment(),
            spend: try payload.value("spend", EventID.init),
            reason: try payload.string("reason"),
            returned: try payload.returnedSlices("returned"),
            lapsed: try payload.slices("lapsed"))
    }

    static func payload(_ event: CoinsExpired) -> [UInt8] {
        var object = JSONObjectWriter()
        object.member("environment", event.environment.rawValue)
        object.objects("slices", event.slices) { $0.members($1) }
        return object.finish()
    }

    static func coinsExpired(_ payload: Payload) throws(PayloadError) -> CoinsExpired {
        CoinsExpired(
            environment: try payload.environment(), slices: try payload.slices("slices"))
    }

    static func payload(_ event: CoinsHeld) -> [UInt8] {
        var object = JSONObjectWriter()
        object.member("environment", event.environment.rawValue)
        object.member("coins", event.coins.amount)
        object.object("purpose") { $0.members(event.purpose) }
        object.member("heldAt", event.heldAt.description)
        object.member("expiresAt", event.expiresAt.description)
        object.member("order", event.order.rawValue)
        object.member("policyVersion", event.policyVersion)
        object.objects("slices", event.slices) { $0.members($1) }
        return object.finish()
    }

    static func coinsHeld(_ payload: Payload) throws(PayloadError) -> CoinsHeld {
        CoinsHeld(
            environment: try payload.environment(), coins: try payload.coins("coins"),
            purpose: try payload.payload("purpose").purpose(),
            heldAt: try payload.value("heldAt", Timestamp.init),
            expiresAt: try payload.value("expiresAt", Timestamp.init),
            order: try payload.value("order", ConsumptionOrder.init(rawValue:)),
            policyVersion: try payload.string("policyVersion"),
            slices: try payload.heldSlices("slices"))
    }

    static func payload(_ event: HoldReleased) -> [UInt8] {
        var object = JSONObjectWriter()
        object.member("environment", event.environment.rawValue)
        object.member("hold", event.hold.description)
        return object.finish()
    }

    static func holdReleased(_ payload: Payload) throws(PayloadError) -> HoldReleased {
        HoldReleased(
            environment: try payload.environment(),
            hold: try payload.value("hold", EventID.init))
    }
}
