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

/// A lot that a batch drew from or gave back to.
package struct ChangedLot: Hashable, Sendable {
    package let environment: Environment
    package let lot: Lot
    /// As it was before that: see `OpenLot`.
    package let openedAt: Int64?
    /// As it is after the batch.
    package let rest: LotRest

    package init(environment: Environment, lot: Lot, openedAt: Int64?, rest: LotRest) {
        self.environment = environment
        self.lot = lot
        self.openedAt = openedAt
        self.rest = rest
    }
}

/// The order in which accounts and lots are listed.
extension AccountID {
    package func isBefore(_ other: AccountID) -> Bool {
        text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }
}

extension LotID {
    package func isBefore(_ other: LotID) -> Bool {
        account == other.account ? number < other.number : account.isBefore(other.account)
    }
}

extension StoredLot.Source {
    package init(_ source: CoinsGranted.Source) {
        switch source {
        case .purchase(let key): self = .purchase(key)
        case .gift(_, let campaignID): self = .gift(campaignID: campaignID)
        }
    }
}

extension Event {
    /// The lots that it opens, and where they come from; nil if it opens none.
    package var opened: (source: StoredLot.Source, environment: Environment, lots: [Lot])? {
        switch self {
        case .coinsGranted(let granted):
            return (StoredLot.Source(granted.source), granted.environment, granted.lots)
        case .coinsAdjusted(let adjusted):
            guard case .added(let lot) = adjusted.change else { return nil }
            return (.support(ticketID: adjusted.ticketID), adjusted.environment, [lot])
        default: return nil
        }
    }
}
