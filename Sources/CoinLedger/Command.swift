/// A wish to change one account. Everything it depends on comes with it: no clock, no chance.
package struct Command: Hashable, Sendable {
    package let id: CommandID
    package let account: AccountID
    /// When the wish was made; what it causes is recorded at this instant.
    package let time: Timestamp
    package let action: Action

    package init(id: CommandID, account: AccountID, time: Timestamp, action: Action) {
        self.id = id
        self.account = account
        self.time = time
        self.action = action
    }

    /// Indirect, since most are large, and commands are handed from queue to queue.
    package indirect enum Action: Hashable, Sendable {
        case grantPurchase(PurchaseGrant)
        case linkAppAccountToken(AppAccountToken)
        case give(Gift)
        case spend(Spend)
        case reverseSpend(SpendReversal)
        case adjust(Adjustment)
        case hold(HoldRequest)
        case captureHold(HoldCapture)
        case releaseHold(EventID)
        case expireCoins
        case refund(RefundNotice)
        /// Only in the account `unclaimed`.
        case rememberRefund(RefundWord)
        case recordConsent(ConsentRecorded)
        /// Only in the account `unclaimed`.
        case recordOrder(OrderRecorded)

        /// Whether it can take coins out of lots, or must know which there are.
        package var needsLots: Bool {
            switch self {
            case .grantPurchase, .linkAppAccountToken, .give, .rememberRefund, .recordConsent,
                .recordOrder:
                false
            case .adjust(let adjustment):
                if case .add = adjustment.change { false } else { true }
            case .spend, .reverseSpend, .hold, .captureHold, .releaseHold, .expireCoins, .refund:
                true
            }
        }
    }
}

/// A verified purchase and what the catalogue says it's worth.
package struct PurchaseGrant: Hashable, Sendable {
    package let purchase: Purchase
    package let coins: GrantedCoins
    package let catalogueVersion: String
    /// When its free coins expire. The paid ones of the App Store never do.
    package let freeExpiresAt: Timestamp?
    /// Why the support desk had it fetched from the store; nil if nobody had to.
    package let redelivery: Redelivery?

    package init(
        purchase: Purchase, coins: GrantedCoins, catalogueVersion: String,
        freeExpiresAt: Timestamp? = nil, redelivery: Redelivery? = nil
    ) {
        self.purchase = purchase
        self.coins = coins
        self.catalogueVersion = catalogueVersion
        self.freeExpiresAt = freeExpiresAt
        self.redelivery = redelivery
    }
}

/// Free coins for an account.
package struct Gift: Hashable, Sendable {
    package let environment: Environment
    package let coins: Coins
    package let expiresAt: Timestamp?
    package let reason: String
    package let campaignID: String?

    package init(
        environment: Environment, coins: Coins, expiresAt: Timestamp?, reason: String,
        campaignID: String?
    ) {
        self.environment = environment
        self.coins = coins
        self.expiresAt = expiresAt
        self.reason = reason
        self.campaignID = campaignID
    }
}

/// Which coins are used first, and the policy that says so.
package struct Consumption: Hashable, Sendable {
    package let order: ConsumptionOrder
    package let policyVersion: String

    package init(order: ConsumptionOrder, policyVersion: String) {
        self.order = order
        self.policyVersion = policyVersion
    }
}

package struct Spend: Hashable, Sendable {
    package let environment: Environment
    package let coins: Coins
    package let purpose: Purpose
    package let consumption: Consumption

    package init(
        environment: Environment, coins: Coins, purpose: Purpose, consumption: Consumption
    ) {
        self.environment = environment
        self.coins = coins
        self.purpose = purpose
        self.consumption = consumption
    }
}

/// A spend to be taken back, as it was recorded.
package struct SpendReversal: Hashable, Sendable {
    package let spend: EventID
    package let spent: CoinsSpent
    package let reason: String

    package init(spend: EventID, spent: CoinsSpent, reason: String) {
        self.spend = spend
        self.spent = spent
        self.reason = reason
    }
}

package struct Adjustment: Hashable, Sendable {
    package enum Change: Hashable, Sendable {
        case add(Coins, expiresAt: Timestamp?)
        case remove(Coins)
    }

    package let environment: Environment
    /// Of free coins.
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

package struct HoldRequest: Hashable, Sendable {
    package let environment: Environment
    package let coins: Coins
    package let purpose: Purpose
    package let expiresAt: Timestamp
    package let consumption: Consumption

    package init(
        environment: Environment, coins: Coins, purpose: Purpose, expiresAt: Timestamp,
        consumption: Consumption
    ) {
        self.environment = environment
        self.coins = coins
        self.purpose = purpose
        self.expiresAt = expiresAt
        self.consumption = consumption
    }
}

package struct HoldCapture: Hashable, Sendable {
    package let hold: EventID
    /// Nil for all of them; what isn't captured is free again.
    package let coins: Coins?
    package let consumption: Consumption

    package init(hold: EventID, coins: Coins?, consumption: Consumption) {
        self.hold = hold
        self.coins = coins
        self.consumption = consumption
    }
}

/// The store's word on the refund of a purchase that was granted to the account.
package struct RefundNotice: Hashable, Sendable {
    /// The key that the grant names as its source.
    package let purchase: PurchaseKey
    /// What the grant opened.
    package let lots: [Lot]
    /// What is refunded by now, in thousandths of a percent; 0 if refunds were reversed.
    package let percentage: Int64
    package let signedAt: Timestamp
    package let shortfallPolicy: ShortfallPolicy

    package init(
        purchase: PurchaseKey, lots: [Lot], percentage: Int64, signedAt: Timestamp,
        shortfallPolicy: ShortfallPolicy
    ) {
        self.purchase = purchase
        self.lots = lots
        self.percentage = percentage
        self.signedAt = signedAt
        self.shortfallPolicy = shortfallPolicy
    }
}

/// What the ledger knows outside the account itself and a decision depends on.
package struct Facts: Hashable, Sendable {
    package var claims: [PurchaseKey: PurchaseClaim]
    package var tokenOwners: [AppAccountToken: AccountID]
    /// The store's last word on purchases that nobody has.
    package var rememberedRefunds: [PurchaseKey: RememberedRefund]
    /// Spends that were reversed, and by which event.
    package var reversals: [EventID: EventID]
    /// Lots that aren't open any more, as far as somebody asked for them.
    package var lots: [LotID: Lot]
    /// Orders that have been looked up, and the events that say what they hold.
    package var orders: [OrderID: EventID]

    package init(
        claims: [PurchaseKey: PurchaseClaim] = [:],
        tokenOwners: [AppAccountToken: AccountID] = [:],
        rememberedRefunds: [PurchaseKey: RememberedRefund] = [:],
        reversals: [EventID: EventID] = [:], lots: [LotID: Lot] = [:],
        orders: [OrderID: EventID] = [:]
    ) {
        self.claims = claims
        self.tokenOwners = tokenOwners
        self.rememberedRefunds = rememberedRefunds
        self.reversals = reversals
        self.lots = lots
        self.orders = orders
    }
}

/// A store's word that was remembered, and the event that did so.
package struct RememberedRefund: Hashable, Sendable {
    package let refund: RefundWord
    package let event: EventID

    package init(refund: RefundWord, event: EventID) {
        self.refund = refund
        self.event = event
    }
}

/// Why a command changes nothing.
package enum Rejection: Error, Hashable, Sendable {
    /// The purchase was granted to this account before, by another command.
    case alreadyGranted(PurchaseClaim)
    /// This very command has been carried out before; its first answer was lost.
    case alreadyDone(PurchaseClaim)
    /// The purchase was granted to another account.
    case grantedToOtherAccount
    /// The purchase carries an account token that isn't linked to this account.
    case belongsToOtherAccount
    /// The store gave the money back before the purchase was granted.
    case refundedBefore
    /// The token is linked to this account already.
    case tokenAlreadyLinked
    /// The token is linked to another account.
    case tokenLinkedToOtherAccount
    /// The coins would take the balance over the largest that is kept.
    case balanceTooLarge
    case insufficientCoins(needed: Coins, available: Coins)
    /// Nothing is spent while coins are owed.
    case inDebt(Coins)
    /// The coins lie in more lots than one event may name.
    case tooManyLots
    case spendAlreadyReversed(by: EventID)
    case holdNotFound
    case holdExpired
    case captureTooLarge(held: Coins)
    case tooManyHolds
    case nothingExpired
    /// The store has said something later about the purchase.
    case refundIsOlder
    /// The store has said the same before.
    case refundAlreadyKnown
    /// The purchase has been granted, so that its refund isn't just remembered.
    case purchaseIsGranted(PurchaseClaim)
    /// The same was said of the consent before.
    case consentAlreadyRecorded
    /// What the order holds was recorded before, by that event.
    case orderAlreadyRecorded(EventID)
}
