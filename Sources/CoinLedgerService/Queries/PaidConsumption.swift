package import CoinLedger
import EventStore

/// How much of the paid coins of a purchase was used.
package struct PaidConsumption: Sendable {
    package let granted: Coins
    package let remaining: Coins
    /// What its own refunds took out of its lot and haven't given back.
    package let refunded: Coins

    /// Nothing of a purchase that brought free coins alone.
    package init(_ purchase: PurchaseReader.Granted) {
        let stored = purchase.lots.first { $0.lot.kind == .paid }
        granted = stored?.lot.coins ?? .zero
        remaining = stored?.rest.remaining ?? .zero
        refunded = (purchase.refund?.taken ?? []).lazy
            .filter { $0.lot.number == stored?.lot.number }.map(\.coins).sum()
    }

    package var used: Coins { granted.subtracting(remaining).subtracting(refunded) }

    /// In thousandths of a percent, rounded half up.
    package var percentage: Int64 {
        guard granted > .zero else { return 0 }
        let whole = Int128(granted.amount)
        return Int64((Int128(used.amount) * 200_000 + whole) / (2 * whole))
    }
}
