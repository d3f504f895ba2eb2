/// What the store's word on refunds of one purchase has done so far.
package struct Refund: Hashable, Sendable {
    /// When the store signed its last word; an older one changes nothing any more.
    package internal(set) var signedAt: Timestamp?
    /// The part of the purchase that is refunded, in thousandths of a percent; 0 after a reversal.
    package internal(set) var percentage: Int64 = 0
    /// The coins it has taken out of lots: one slice for each lot, by number, however many words of
    /// the store it took.
    package private(set) var taken: [ReturnedSlice] = []
    /// What was spent already and hasn't been paid back.
    package internal(set) var debt = Coins.zero
    /// What was spent already and won't be asked for.
    package internal(set) var writtenOff = Coins.zero

    package static let percentageMax: Int64 = 100_000

    package init() {}

    package init(
        signedAt: Timestamp?, percentage: Int64, taken: [ReturnedSlice], debt: Coins,
        writtenOff: Coins
    ) {
        self.signedAt = signedAt
        self.percentage = percentage
        self.taken = taken
        self.debt = debt
        self.writtenOff = writtenOff
    }

    /// `percentage` of `coins`, rounded half up; of one beyond 0 to 100 %, the nearer of the two.
    package static func target(of coins: Coins, percentage: Int64) -> Coins {
        let product = Int128(coins.amount) * Int128(min(max(0, percentage), percentageMax))
        let rounded = (2 * product + Int128(percentageMax)) / Int128(2 * percentageMax)
        return Coins(Int64(rounded)) ?? coins
    }

    mutating func take(_ slices: [ReturnedSlice]) {
        for slice in slices {
            let index = taken.firstIndex { $0.lot.number >= slice.lot.number } ?? taken.endIndex
            if index < taken.endIndex, taken[index].lot.number == slice.lot.number {
                taken[index] = taken[index].merged(with: slice)
            } else {
                taken.insert(slice, at: index)
            }
        }
    }
}

extension ReturnedSlice {
    /// Both as one; they are of the same lot.
    fileprivate func merged(with other: ReturnedSlice) -> ReturnedSlice {
        var sum = value ?? other.value
        if let value, let more = other.value {
            sum = StatedPrice(
                milliunits: value.milliunits &+ more.milliunits, currency: value.currency)
        }
        return ReturnedSlice(lot: lot, coins: coins.addingSaturated(other.coins), value: sum)
    }
}

/// What becomes of coins that are refunded but spent.
package enum ShortfallPolicy: String, Hashable, Sendable, CaseIterable {
    /// They are owed: new coins pay first, and nothing is spent until they have.
    case debt
    /// Other paid coins are taken, the oldest first; what these don't cover is owed.
    case takeOtherPaid = "take_other_paid"
    /// They are given up.
    case writeOff = "write_off"
}
