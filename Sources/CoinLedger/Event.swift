/// What has happened to an account. Stored for ever; a changed payload is a new schema version.
///
/// Whatever moves coins names the slices of lots that it moved: nothing is decided again on replay.
package indirect enum Event: Hashable, Sendable {
    case purchaseRecorded(PurchaseRecorded)
    case coinsGranted(CoinsGranted)
    case appAccountTokenLinked(AppAccountToken)
    case coinsSpent(CoinsSpent)
    case spendReversed(SpendReversed)
    case coinsExpired(CoinsExpired)
    case coinsAdjusted(CoinsAdjusted)
    case coinsHeld(CoinsHeld)
    case holdReleased(HoldReleased)
    case purchaseRefunded(PurchaseRefunded)
    case refundReversed(RefundReversed)
    case debtPaid(DebtPaid)
    case refundRemembered(RefundWord)
    case consentRecorded(ConsentRecorded)
    case orderRecorded(OrderRecorded)
}

/// A verified purchase, with everything the store stated about it.
package struct PurchaseRecorded: Hashable, Sendable {
    package let purchase: Purchase
    /// The catalogue that said how many coins it is worth.
    package let catalogueVersion: String
    /// Why the support desk had it fetched from the store; nil if nobody had to.
    package let redelivery: Redelivery?

    package init(
        purchase: Purchase, catalogueVersion: String, redelivery: Redelivery? = nil
    ) {
        self.purchase = purchase
        self.catalogueVersion = catalogueVersion
        self.redelivery = redelivery
    }
}

/// Why the support desk had a purchase fetched from the store, which nobody had posted.
package struct Redelivery: Hashable, Sendable {
    package let reason: String
    package let ticketID: String

    package init(reason: String, ticketID: String) {
        self.reason = reason
        self.ticketID = ticketID
    }
}

/// Coins that have come into an account, as lots.
package struct CoinsGranted: Hashable, Sendable {
    package let environment: Environment
    package let source: Source
    /// At least one, numbered on from the account's last.
    package let lots: [Lot]

    package init(environment: Environment, source: Source, lots: [Lot]) {
        self.environment = environment
        self.source = source
        self.lots = lots
    }

    /// Where the coins came from.
    package enum Source: Hashable, Sendable {
        case purchase(PurchaseKey)
        /// Given away, perhaps in a campaign.
        case gift(reason: String, campaignID: String?)
    }

    package var coins: GrantedCoins { lots.reduce(.none) { $0.adding($1.coins, $1.kind) } }
}

/// Coins that have been used.
package struct CoinsSpent: Hashable, Sendable {
    package let environment: Environment
    package let coins: Coins
    package let purpose: Purpose
    /// The hold they were set aside by, which ends with this.
    package let hold: EventID?
    package let order: ConsumptionOrder
    /// The policy that said so.
    package let policyVersion: String
    package let slices: [Slice]

    package init(
        environment: Environment, coins: Coins, purpose: Purpose, hold: EventID?,
        order: ConsumptionOrder, policyVersion: String, slices: [Slice]
    ) {
        self.environment = environment
        self.coins = coins
        self.purpose = purpose
        self.hold = hold
        self.order = order
        self.policyVersion = policyVersion
        self.slices = slices
    }
}

/// A spend that was taken back.
package struct SpendReversed: Hashable, Sendable {
    package let environment: Environment
    package let spend: EventID
    package let reason: String
    package let returned: [ReturnedSlice]
    /// Those of lots whose time was over: they went nowhere.
    package let lapsed: [Slice]

    package init(
        environment: Environment, spend: EventID, reason: String, returned: [ReturnedSlice],
        lapsed: [Slice]
    ) {
        self.environment = environment
        self.spend = spend
        self.reason = reason
        self.returned = returned
        self.lapsed = lapsed
    }
}

/// Coins whose time was over and that nobody had spent, recorded once.
package struct CoinsExpired: Hashable, Sendable {
    package let environment: Environment
    package let slices: [Slice]

    package init(environment: Environment, slices: [Slice]) {
        self.environment = environment
        self.slices = slices
    }
}

/// A correction by the support desk.
package struct CoinsAdjusted: Hashable, Sendable {
    package enum Change: Hashable, Sendable {
        case added(Lot)
        case removed([Slice])
    }

    package let environment: Environment
    package let change: Change
    package let reason: String
    package let ticketID: String

    package init(environment: Environment, change: Change, reason: String, ticketID: String) {
        self.environment = environment
        self.change = change
        self.reason = reason
        self.ticketID = ticketID
    }
}

/// Coins that were set aside. The hold is named by this event's id.
package struct CoinsHeld: Hashable, Sendable {
    package let environment: Environment
    package let coins: Coins
    package let purpose: Purpose
    package let heldAt: Timestamp
    package let expiresAt: Timestamp
    package let order: ConsumptionOrder
    package let policyVersion: String
    package let slices: [HeldSlice]

    package init(
        environment: Environment, coins: Coins, purpose: Purpose, heldAt: Timestamp,
        expiresAt: Timestamp, order: ConsumptionOrder, policyVersion: String, slices: [HeldSlice]
    ) {
        self.environment = environment
        self.coins = coins
        self.purpose = purpose
        self.heldAt = heldAt
        self.expiresAt = expiresAt
        self.order = order
        self.policyVersion = policyVersion
        self.slices = slices
    }
}

/// A hold whose coins are free again.
package struct HoldReleased: Hashable, Sendable {
    package let environment: Environment
    package let hold: EventID

    package init(environment: Environment, hold: EventID) {
        self.environment = environment
        self.hold = hold
    }
}

/// The store has given money back, in all or in part.
package struct PurchaseRefunded: Hashable, Sendable {
    package let purchase: PurchaseKey
    /// The part that is refunded by now, in thousandths of a percent.
    package let percentage: Int64
    package let signedAt: Timestamp
    package let shortfallPolicy: ShortfallPolicy
    /// What it takes out of lots: the purchase's own, and by policy others.
    package let taken: [ReturnedSlice]
    /// What had been spent and is owed now.
    package let debt: Coins
    /// What had been spent and is given up.
    package let writtenOff: Coins

    package init(
        purchase: PurchaseKey, percentage: Int64, signedAt: Timestamp,
        shortfallPolicy: ShortfallPolicy, taken: [ReturnedSlice], debt: Coins, writtenOff: Coins
    ) {
        self.purchase = purchase
        self.percentage = percentage
        self.signedAt = signedAt
        self.shortfallPolicy = shortfallPolicy
        self.taken = taken
        self.debt = debt
        self.writtenOff = writtenOff
    }
}

/// The store has taken its refunds of a purchase back.
package struct RefundReversed: Hashable, Sendable {
    package let purchase: PurchaseKey
    package let signedAt: Timestamp
    /// Exactly what the refunds had taken.
    package let returned: [ReturnedSlice]
    package let debtCleared: Coins

    package init(
        purchase: PurchaseKey, signedAt: Timestamp, returned: [ReturnedSlice], debtCleared: Coins
    ) {
        self.purchase = purchase
        self.signedAt = signedAt
        self.returned = returned
        self.debtCleared = debtCleared
    }
}

/// New coins that paid what a refund had left owing.
package struct DebtPaid: Hashable, Sendable {
    package let purchase: PurchaseKey
    package let taken: [ReturnedSlice]

    package init(purchase: PurchaseKey, taken: [ReturnedSlice]) {
        self.purchase = purchase
        self.taken = taken
    }
}

/// The store's word on refunds of a purchase. Where the purchase hadn't been granted, it's remembered
/// as an event of the account of such purchases.
package struct RefundWord: Hashable, Sendable {
    package let purchase: PurchaseKey
    /// What is refunded by now, in thousandths of a percent; 0 for a reversal.
    package let percentage: Int64
    package let signedAt: Timestamp

    package init(purchase: PurchaseKey, percentage: Int64, signedAt: Timestamp) {
        self.purchase = purchase
        self.percentage = percentage
        self.signedAt = signedAt
    }
}

/// Whether the store may be told how much of its purchases an account has used.
package struct ConsentRecorded: Hashable, Sendable {
    package let isGiven: Bool

    package init(isGiven: Bool) { self.isGiven = isGiven }
}
