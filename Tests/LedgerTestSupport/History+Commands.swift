package import CoinLedger

/// The commands in a few words, for stories of production coins at noon.
extension History {
    @discardableResult
    package mutating func buy(
        _ id: TransactionID, paid: Coins = 100, free: Coins = 0, freeUntil: Timestamp? = nil,
        price: Int64? = 990, at time: Timestamp = .noon
    ) throws(Rejection) -> [Event] {
        let grant = PurchaseGrant(
            purchase: .appStore(id, price: price), coins: GrantedCoins(paid: paid, free: free),
            catalogueVersion: "2026-11", freeExpiresAt: freeUntil)
        return try carryOut(.grantPurchase(grant), at: time)
    }

    @discardableResult
    package mutating func give(
        _ coins: Coins, until expiry: Timestamp? = nil, at time: Timestamp = .noon
    ) throws(Rejection) -> [Event] {
        let gift = Gift(
            environment: .production, coins: coins, expiresAt: expiry, reason: "welcome",
            campaignID: "autumn")
        return try carryOut(.give(gift), at: time)
    }

    @discardableResult
    package mutating func spend(
        _ coins: Coins, _ order: ConsumptionOrder = .freeFirst, at time: Timestamp = .noon
    ) throws(Rejection) -> CoinsSpent {
        let spend = Spend(
            environment: .production, coins: coins, purpose: .stamp, consumption: .by(order))
        return spent(try carryOut(.spend(spend), at: time))
    }

    /// Takes back the spend that the event of that position recorded.
    @discardableResult
    package mutating func takeBack(
        _ spend: EventID, at time: Timestamp = .noon
    ) throws(Rejection) -> SpendReversed {
        guard let entry = log.first(where: { $0.id == spend }),
            case .coinsSpent(let spent) = entry.event
        else { preconditionFailure("\(spend) is no spend") }
        let reversal = SpendReversal(spend: spend, spent: spent, reason: "not delivered")
        let events = try carryOut(.reverseSpend(reversal), at: time)
        guard case .spendReversed(let reversed) = events.first else {
            preconditionFailure("\(events) is no reversal")
        }
        return reversed
    }

    @discardableResult
    package mutating func adjust(
        _ change: Adjustment.Change, at time: Timestamp = .noon
    ) throws(Rejection) -> [Event] {
        let adjustment = Adjustment(
            environment: .production, change: change, reason: "lost", ticketID: "S-1")
        return try carryOut(.adjust(adjustment), at: time)
    }

    /// Returns the name of the hold.
    @discardableResult
    package mutating func hold(
        _ coins: Coins, until expiry: Timestamp, _ order: ConsumptionOrder = .freeFirst,
        at time: Timestamp = .noon
    ) throws(Rejection) -> EventID {
        let request = HoldRequest(
            environment: .production, coins: coins, purpose: .stamp, expiresAt: expiry,
            consumption: .by(order))
        try carryOut(.hold(request), at: time)
        return last
    }

    @discardableResult
    package mutating func capture(
        _ hold: EventID, _ coins: Coins? = nil, at time: Timestamp = .noon
    ) throws(Rejection) -> CoinsSpent {
        let capture = HoldCapture(hold: hold, coins: coins, consumption: .by(.freeFirst))
        return spent(try carryOut(.captureHold(capture), at: time))
    }

    /// The store's word on a purchase, signed so many milliseconds after noon.
    @discardableResult
    package mutating func refund(
        _ id: TransactionID, _ percentage: Int64, signed: Int64,
        _ policy: ShortfallPolicy = .debt, at time: Timestamp = .noon
    ) throws(Rejection) -> [Event] {
        let key = PurchaseKey.appStore(id)
        let notice = RefundNotice(
            purchase: key, lots: lots(of: key), percentage: percentage,
            signedAt: .noon(plus: signed), shortfallPolicy: policy)
        return try carryOut(.refund(notice), at: time)
    }

    @discardableResult
    package mutating func remember(
        _ id: TransactionID, _ percentage: Int64, signed: Int64
    ) throws(Rejection) -> [Event] {
        let word = RefundWord(
            purchase: .appStore(id), percentage: percentage, signedAt: .noon(plus: signed))
        return try carryOut(.rememberRefund(word))
    }

    /// The name of the last event.
    package var last: EventID {
        guard let entry = log.last else { preconditionFailure("nothing has happened") }
        return entry.id
    }

    package func balance(at time: Timestamp = .noon) -> Balance {
        account.production.balance(at: time)
    }

    /// What is left of each open lot, by number.
    package var rest: [Int64: Coins] {
        Dictionary(
            uniqueKeysWithValues: account.production.openLots.map { ($0.lot.number, $0.remaining) })
    }

    private func spent(_ events: [Event]) -> CoinsSpent {
        guard case .coinsSpent(let spent) = events.first else {
            preconditionFailure("\(events) is no spend")
        }
        return spent
    }
}

extension Purpose {
    package static let stamp = Purpose(
        subject: .stamp(id: "rose", quantity: 1, unitCoins: 1, catalogueVersion: "2026-11"),
        programmeID: "P1", performerID: "A1")
}

extension Consumption {
    package static func by(_ order: ConsumptionOrder) -> Consumption {
        Consumption(order: order, policyVersion: "7")
    }
}

extension Balance {
    /// Of coins that never expire.
    package static func of(
        paid: Coins = 0, free: Coins = 0, held: Coins = 0, debt: Coins = 0,
        nextExpiry: Timestamp? = nil
    ) -> Balance {
        Balance(paid: paid, free: free, held: held, debt: debt, nextExpiry: nextExpiry)
    }
}
