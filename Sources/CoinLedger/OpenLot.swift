/// A lot with what is left of it.
package struct OpenLot: Sendable {
    package let lot: Lot
    /// The position in its lane of the event that opened it; nil if it was used up before coins came
    /// back to it. It says nothing about the lot, so that it doesn't count when two are compared.
    package let openedAt: Int64?
    package private(set) var remaining: Coins
    /// The part of the price that has left with coins, in milliunits.
    package private(set) var valueOut: Int64

    /// - Parameters:
    ///   - remaining: nil for all of it.
    ///   - valueOut: nil for what belongs to the coins that have left.
    package init(
        _ lot: Lot, openedAt: Int64? = nil, remaining: Coins? = nil, valueOut: Int64? = nil
    ) {
        self.lot = lot
        self.openedAt = openedAt
        self.remaining = remaining ?? lot.coins
        self.valueOut = 0
        self.valueOut = valueOut ?? flowed(lot.coins.subtracting(self.remaining))
    }

    /// A lot that has been used up.
    package static func closed(_ lot: Lot) -> OpenLot { OpenLot(lot, remaining: .zero) }

    /// The slice that leaves with `coins`, of which it has as many.
    ///
    /// What has flowed out after `u` of `n` coins is `floor(price · u / n)`, so that the slices of a
    /// lot sum to its price, also if some went back in between. Where those that went back were
    /// worth so little that more than that has left already, the slice is worth nothing.
    func slice(_ coins: Coins) -> Slice {
        let used = lot.coins.subtracting(remaining).addingSaturated(coins)
        let value = lot.price.map { price in
            StatedPrice(
                milliunits: max(0, flowed(used) &- valueOut), currency: price.currency)
        }
        return Slice(lot: lot.number, kind: lot.kind, coins: coins, value: value)
    }

    func returning(_ coins: Coins, value: StatedPrice?) -> ReturnedSlice {
        ReturnedSlice(lot: lot, coins: coins, value: value)
    }

    mutating func take(_ slice: Slice) {
        remaining = remaining.subtracting(slice.coins)
        valueOut &+= slice.value?.milliunits ?? 0
    }

    mutating func give(_ slice: ReturnedSlice) {
        remaining = remaining.addingSaturated(slice.coins)
        valueOut &-= slice.value?.milliunits ?? 0
    }

    private func flowed(_ used: Coins) -> Int64 {
        guard let price = lot.price, lot.coins > .zero else { return 0 }
        // Price times coins may leave 64 bits, though the quotient never does.
        let product = price.milliunits.multipliedFullWidth(by: min(used, lot.coins).amount)
        return lot.coins.amount.dividingFullWidth(product).quotient
    }
}

extension OpenLot: Hashable {
    package static func == (one: OpenLot, other: OpenLot) -> Bool {
        one.lot == other.lot && one.remaining == other.remaining && one.valueOut == other.valueOut
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(lot)
        hasher.combine(remaining)
        hasher.combine(valueOut)
    }
}
