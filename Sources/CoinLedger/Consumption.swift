/// Which coins a spend uses first. A spend names the order it was decided by, so that a changed
/// policy leaves history alone.
package enum ConsumptionOrder: String, Hashable, Sendable, CaseIterable {
    /// Free lots by earliest expiry, then paid ones, the oldest first.
    case freeFirst = "free_first"
    /// Whatever expires first; what never does, the oldest first.
    case earliestExpiryFirst = "earliest_expiry_first"
    /// Paid lots, the oldest first, then free ones by earliest expiry.
    case paidFirst = "paid_first"
    /// The dearest coin first by its stated price, whatever the currency; then the free ones.
    case highestUnitPriceFirst = "highest_unit_price_first"
}

extension ConsumptionOrder {
    /// A purse's open lots in their order, in parts that follow each other.
    func lots(_ free: LotQueue, _ paid: LotQueue) -> [ArraySlice<OpenLot>] {
        switch self {
        case .freeFirst: [free.all, paid.all]
        case .paidFirst: [paid.all, free.all]
        case .earliestExpiryFirst:
            [(free.all + paid.all).sorted { place($0.lot) < place($1.lot) }[...]]
        case .highestUnitPriceFirst:
            [(free.all + paid.all).sorted { isDearer($0.lot, $1.lot) }[...]]
        }
    }

    private func place(_ lot: Lot) -> (Int64, Int64) {
        (lot.expiresAt?.milliseconds ?? .max, lot.number)
    }

    private func isDearer(_ one: Lot, _ other: Lot) -> Bool {
        // price ÷ coins compared crosswise, in 128 bits.
        let left = unitPrice(one, times: other.coins)
        let right = unitPrice(other, times: one.coins)
        if left != right { return left > right }
        if one.kind != other.kind { return one.kind == .paid }
        return place(one) < place(other)
    }

    private func unitPrice(_ lot: Lot, times coins: Coins) -> Int128 {
        Int128(lot.price?.milliunits ?? 0) * Int128(coins.amount)
    }
}
