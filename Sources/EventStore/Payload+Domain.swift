import Base
import CoinLedger

/// What several payloads have in common, written.
extension JSONObjectWriter {
    mutating func members(_ key: PurchaseKey) {
        member("store", key.store.rawValue)
        member("environment", key.environment.rawValue)
        member("transactionId", key.transactionID.text)
    }

    mutating func members(_ lot: Lot) {
        member("number", lot.number)
        member("kind", lot.kind.rawValue)
        member("coins", lot.coins.amount)
        member("expiresAt", lot.expiresAt?.description)
        price(lot.price)
    }

    mutating func members(_ slice: Slice) {
        member("lot", slice.lot)
        member("kind", slice.kind.rawValue)
        member("coins", slice.coins.amount)
        value(slice.value)
    }

    mutating func members(_ slice: ReturnedSlice) {
        object("lot") { $0.members(slice.lot) }
        member("coins", slice.coins.amount)
        value(slice.value)
    }

    mutating func members(_ slice: HeldSlice) {
        member("lot", slice.lot)
        member("coins", slice.coins.amount)
    }

    mutating func members(_ purpose: Purpose) {
        switch purpose.subject {
        case .stamp(let id, let quantity, let unitCoins, let catalogueVersion):
            member("type", "stamp")
            member("stampId", id)
            member("quantity", quantity)
            member("unitCoins", unitCoins.amount)
            member("catalogueVersion", catalogueVersion)
        case .other(let text):
            member("type", "other")
            member("text", text)
        }
        member("programmeId", purpose.programmeID)
        member("performerId", purpose.performerID)
    }

    mutating func price(_ price: StatedPrice?) {
        guard let price else { return }
        member("priceMilliunits", price.milliunits)
        member("currency", price.currency)
    }

    private mutating func value(_ value: StatedPrice?) {
        guard let value else { return }
        member("valueMilliunits", value.milliunits)
        member("currency", value.currency)
    }
}

/// The same, read.
extension Payload {
    func environment() throws(PayloadError) -> Environment {
        try value("environment", Environment.init(rawValue:))
    }

    func purchaseKey() throws(PayloadError) -> PurchaseKey {
        PurchaseKey(
            store: try value("store", Store.init(rawValue:)), environment: try environment(),
            transactionID: try value("transactionId", TransactionID.init))
    }

    func lot() throws(PayloadError) -> Lot {
        Lot(
            number: try count("number"), kind: try value("kind", Lot.Kind.init(rawValue:)),
            coins: try coins("coins"),
            expiresAt: try optionalValue("expiresAt", Timestamp.init), price: try price())
    }

    func slices(_ name: String) throws(PayloadError) -> [Slice] {
        try list(name) { (slice) throws(PayloadError) in
            Slice(
                lot: try slice.count("lot"),
                kind: try slice.value("kind", Lot.Kind.init(rawValue:)),
                coins: try slice.coins("coins"), value: try slice.money("valueMilliunits"))
        }
    }

    func returnedSlices(_ name: String) throws(PayloadError) -> [ReturnedSlice] {
        try list(name) { (slice) throws(PayloadError) in
            ReturnedSlice(
                lot: try slice.payload("lot").lot(), coins: try slice.coins("coins"),
                value: try slice.money("valueMilliunits"))
        }
    }

    func heldSlices(_ name: String) throws(PayloadError) -> [HeldSlice] {
        try list(name) { (slice) throws(PayloadError) in
            HeldSlice(lot: try slice.count("lot"), coins: try slice.coins("coins"))
        }
    }

    func purpose() throws(PayloadError) -> Purpose {
        let subject: Purpose.Subject
        switch try string("type") {
        case "stamp":
            subject = .stamp(
                id: try string("stampId"), quantity: try count("quantity"),
                unitCoins: try coins("unitCoins"),
                catalogueVersion: try string("catalogueVersion"))
        case "other": subject = .other(try string("text"))
        default: throw .malformed("purpose.type")
        }
        return Purpose(
            subject: subject, programmeID: try optional("programmeId", \JSON.string),
            performerID: try optional("performerId", \JSON.string))
    }

    func price() throws(PayloadError) -> StatedPrice? { try money("priceMilliunits") }

    private func money(_ name: String) throws(PayloadError) -> StatedPrice? {
        guard let milliunits = try optional(name, \JSON.integer) else { return nil }
        return StatedPrice(milliunits: milliunits, currency: try string("currency"))
    }

    /// The part of a purchase that is refunded, in thousandths of a percent.
    func percentage() throws(PayloadError) -> Int64 {
        let percentage = try integer("percentageMilliunits")
        guard (0...Refund.percentageMax).contains(percentage) else {
            throw .malformed("percentageMilliunits")
        }
        return percentage
    }
}
