/// Coins that came in together: of one kind, from one source, with one expiry.
package struct Lot: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case paid, free
    }

    /// 1, 2, 3 … within the account.
    package let number: Int64
    package let kind: Kind
    package let coins: Coins
    /// The coins can't be spent from this instant on; nil for never.
    package let expiresAt: Timestamp?
    /// What all its coins together cost, as the store stated it; nil for free coins, and where the
    /// store said nothing.
    package let price: StatedPrice?

    package init(
        number: Int64, kind: Kind, coins: Coins, expiresAt: Timestamp? = nil,
        price: StatedPrice? = nil
    ) {
        self.number = number
        self.kind = kind
        self.coins = coins
        self.expiresAt = expiresAt
        self.price = price
    }

    package func isExpired(at time: Timestamp) -> Bool { expiresAt.map { $0 <= time } ?? false }
}

/// Some coins of one lot that leave it, and the part of its price that leaves with them.
package struct Slice: Hashable, Sendable {
    package let lot: Int64
    package let kind: Lot.Kind
    package let coins: Coins
    /// Nil where the lot has no price.
    package let value: StatedPrice?

    package init(lot: Int64, kind: Lot.Kind, coins: Coins, value: StatedPrice?) {
        self.lot = lot
        self.kind = kind
        self.coins = coins
        self.value = value
    }
}

/// Coins that go back to the lot they came from, which may have been used up meanwhile: so the
/// whole lot is named.
package struct ReturnedSlice: Hashable, Sendable {
    package let lot: Lot
    package let coins: Coins
    package let value: StatedPrice?

    package init(lot: Lot, coins: Coins, value: StatedPrice?) {
        self.lot = lot
        self.coins = coins
        self.value = value
    }
}

// Not for any sequence: other modules would pay for a generic function each time.

extension [Slice] {
    /// How many coins of each kind they are.
    package var coins: GrantedCoins { reduce(.none) { $0.adding($1.coins, $1.kind) } }
}

extension [ReturnedSlice] {
    /// How many coins of each kind they are.
    package var coins: GrantedCoins { reduce(.none) { $0.adding($1.coins, $1.lot.kind) } }
}
