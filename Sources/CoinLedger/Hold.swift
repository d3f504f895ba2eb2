/// Coins set aside for something that is still being delivered: neither spent nor available.
package struct Hold: Hashable, Sendable {
    /// The event that made it.
    package let id: EventID
    package let coins: Coins
    package let purpose: Purpose
    /// From this instant on its coins are free again, whether or not anybody says so.
    package let expiresAt: Timestamp
    package let slices: [HeldSlice]

    package init(
        id: EventID, coins: Coins, purpose: Purpose, expiresAt: Timestamp, slices: [HeldSlice]
    ) {
        self.id = id
        self.coins = coins
        self.purpose = purpose
        self.expiresAt = expiresAt
        self.slices = slices
    }

    package func isExpired(at time: Timestamp) -> Bool { expiresAt <= time }
}

/// Coins of one lot that are held there.
package struct HeldSlice: Hashable, Sendable {
    package let lot: Int64
    package let coins: Coins

    package init(lot: Int64, coins: Coins) {
        self.lot = lot
        self.coins = coins
    }
}
