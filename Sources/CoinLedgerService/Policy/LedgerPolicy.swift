package import CoinLedger

/// What the operator decides about coins. Versioned: events name the version that decided.
package struct LedgerPolicy: Hashable, Sendable {
    package let version: String
    package let consumption: ConsumptionOrder
    /// When free coins expire, unless whoever gives them says so; nil for never.
    package let freeExpiry: ExpiryRule?
    package let refundShortfall: ShortfallPolicy
    /// How long coins are held where the request doesn't say, and at most.
    package let holdSeconds: Int64
    package let holdSecondsMax: Int64

    package init(
        version: String, consumption: ConsumptionOrder, freeExpiry: ExpiryRule?,
        refundShortfall: ShortfallPolicy, holdSeconds: Int64, holdSecondsMax: Int64
    ) {
        self.version = version
        self.consumption = consumption
        self.freeExpiry = freeExpiry
        self.refundShortfall = refundShortfall
        self.holdSeconds = holdSeconds
        self.holdSecondsMax = holdSecondsMax
    }
}

/// Coins expire at the end of a day: the one that is `days` after the day they came in on.
package struct ExpiryRule: Hashable, Sendable {
    package let days: Int64
    package let zone: ZoneRules

    package init(days: Int64, zone: ZoneRules) {
        self.days = days
        self.zone = zone
    }

    package func expiry(of time: Timestamp) -> Timestamp? { zone.endOfDay(days, after: time) }
}
