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

    /// The product, or nil if it's negative or over the maximum.
    package func multiplied(by factor: Int64) -> Coins? {
        let (product, overflow) = amount.multipliedReportingOverflow(by: factor)
        return overflow ? nil : Coins(product)
    }
}
