package import CoinLedger

/// A lot as the store keeps it: where it came from, and what is left.
package struct StoredLot: Hashable, Sendable {
    package let account: AccountID
    package let environment: Environment
    package let lot: Lot
    package let source: Source
    /// The event that opened it, and when that was recorded.
    package let grant: EventID
    package let grantedAt: Timestamp
    package let rest: LotRest

    package enum Source: Hashable, Sendable {
        case purchase(PurchaseKey)
        case gift(campaignID: String?)
        case support(ticketID: String)
    }

    package init(
        account: AccountID, environment: Environment, lot: Lot, source: Source, grant: EventID,
        grantedAt: Timestamp, rest: LotRest
    ) {
        self.account = account
        self.environment = environment
        self.lot = lot
        self.source = source
        self.grant = grant
        self.grantedAt = grantedAt
        self.rest = rest
    }

    package var id: LotID { LotID(account: account, number: lot.number) }

    package var isOpen: Bool { rest.remaining > .zero }

    /// The same lot with another rest.
    package func with(_ rest: LotRest) -> StoredLot {
        StoredLot(
            account: account, environment: environment, lot: lot, source: source, grant: grant,
            grantedAt: grantedAt, rest: rest)
    }
}

/// What is left of a lot. One with coins left is open.
package struct LotRest: Hashable, Sendable {
    package let remaining: Coins
    /// The part of its price that has left with coins, in milliunits.
    package let valueOut: Int64

    package init(remaining: Coins, valueOut: Int64) {
        self.remaining = remaining
        self.valueOut = valueOut
    }

    package init(_ open: OpenLot) {
        self.init(remaining: open.remaining, valueOut: open.valueOut)
    }
}
