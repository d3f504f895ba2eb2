/// Whole coins, from 0 to 2^53 − 1, so that every JSON reader holds them exactly.
package struct Coins: Hashable, Sendable, Comparable {
    package let amount: Int64

    package static let amountMax: Int64 = (1 << 53) - 1
    package static let zero = Coins(unchecked: 0)

    package init?(_ amount: Int64) {
        guard (0...Coins.amountMax).contains(amount) else { return nil }
        self.amount = amount
    }

    private init(unchecked amount: Int64) { self.amount = amount }

    package static func < (left: Coins, right: Coins) -> Bool { left.amount < right.amount }

    /// The sum, or nil if it's over the maximum.
    package func adding(_ other: Coins) -> Coins? {
        Coins(amount + other.amount)
    }

    /// The sum, or the maximum if it's over that.
    func addingSaturated(_ other: Coins) -> Coins {
        Coins(unchecked: min(Coins.amountMax, amount + other.amount))
    }

    /// What is left without `other`; zero if that is more.
    package func subtracting(_ other: Coins) -> Coins {
        Coins(unchecked: max(0, amount - other.amount))
    }

    /// The product, or nil if it's negative or over the maximum.
    package func multiplied(by factor: Int64) -> Coins? {
        let (product, overflow) = amount.multipliedReportingOverflow(by: factor)
        return overflow ? nil : Coins(product)
    }
}

extension Sequence<Coins> {
    /// Their sum, within the range of `Coins`.
    func sum() -> Coins { reduce(.zero) { $0.addingSaturated($1) } }
}

extension [Coins] {
    /// The same for other modules, which would pay for a generic function each time.
    package func sum() -> Coins {
        var sum = Coins.zero
        for coins in self { sum = sum.addingSaturated(coins) }
        return sum
    }
}
