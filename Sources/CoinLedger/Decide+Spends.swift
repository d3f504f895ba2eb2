/// How coins go out, and come back.
extension Account {
    /// Holds of one purse at one time.
    package static let holdsMax = 100

    func decide(_ spend: Spend, at time: Timestamp) throws(Rejection) -> Event {
        let slices = try draw(spend.coins, spend.consumption, self[spend.environment], at: time)
        return .coinsSpent(
            CoinsSpent(
                environment: spend.environment, coins: spend.coins, purpose: spend.purpose,
                hold: nil, order: spend.consumption.order,
                policyVersion: spend.consumption.policyVersion, slices: slices))
    }

    private func draw(
        _ coins: Coins, _ consumption: Consumption, _ purse: Purse, at time: Timestamp
    ) throws(Rejection) -> [Slice] {
        guard purse.debt == .zero else { throw .inDebt(purse.debt) }
        let slices = purse.draw(coins, consumption.order, at: time)
        try check(slices, cover: coins)
        return slices
    }

    func decide(
        _ reversal: SpendReversal, of command: Command, knowing facts: Facts
    ) throws(Rejection) -> Event {
        if let event = facts.reversals[reversal.spend] { throw .spendAlreadyReversed(by: event) }
        let environment = reversal.spent.environment
        var returned: [ReturnedSlice] = []
        var lapsed: [Slice] = []
        for slice in reversal.spent.slices {
            let id = LotID(account: command.account, number: slice.lot)
            let lot = self[environment].openLot(slice.lot)?.lot ?? facts.lots[id]
            if let lot, !lot.isExpired(at: command.time) {
                returned.append(ReturnedSlice(lot: lot, coins: slice.coins, value: slice.value))
            } else {
                lapsed.append(slice)
            }
        }
        guard self[environment].hasRoom(for: returned.coins) else { throw .balanceTooLarge }
        return .spendReversed(
            SpendReversed(
                environment: environment, spend: reversal.spend, reason: reversal.reason,
                returned: returned, lapsed: lapsed))
    }

    func decide(_ request: HoldRequest, at time: Timestamp) throws(Rejection) -> Event {
        let purse = self[request.environment]
        guard purse.holds.count(where: { !$0.isExpired(at: time) }) < Account.holdsMax else {
            throw .tooManyHolds
        }
        let slices = try draw(request.coins, request.consumption, purse, at: time)
        return .coinsHeld(
            CoinsHeld(
                environment: request.environment, coins: request.coins, purpose: request.purpose,
                heldAt: time, expiresAt: request.expiresAt, order: request.consumption.order,
                policyVersion: request.consumption.policyVersion,
                slices: slices.map { HeldSlice(lot: $0.lot, coins: $0.coins) }))
    }

    func decide(_ capture: HoldCapture, at time: Timestamp) throws(Rejection) -> Event {
        let (environment, hold) = try activeHold(capture.hold, at: time)
        let coins = capture.coins ?? hold.coins
        guard coins <= hold.coins else { throw .captureTooLarge(held: hold.coins) }
        var slices: [Slice] = []
        var left = coins
        for held in hold.slices {
            // A lot that has less than is held of it was used by a clock that ran ahead.
            guard let open = self[environment].openLot(held.lot) else { continue }
            let takes = min(left, held.coins, open.remaining)
            guard takes > .zero else { continue }
            slices.append(open.slice(takes))
            left = left.subtracting(takes)
        }
        try check(slices, cover: coins)
        return .coinsSpent(
            CoinsSpent(
                environment: environment, coins: coins, purpose: hold.purpose, hold: hold.id,
                order: capture.consumption.order,
                policyVersion: capture.consumption.policyVersion, slices: slices))
    }

    func release(_ id: EventID, at time: Timestamp) throws(Rejection) -> Event {
        let (environment, hold) = try activeHold(id, at: time)
        return .holdReleased(HoldReleased(environment: environment, hold: hold.id))
    }

    private func activeHold(
        _ id: EventID, at time: Timestamp
    ) throws(Rejection) -> (Environment, Hold) {
        for environment in Environment.allCases {
            guard let hold = self[environment].hold(id) else { continue }
            guard !hold.isExpired(at: time) else { throw .holdExpired }
            return (environment, hold)
        }
        throw .holdNotFound
    }

    /// Records what nobody can spend any more; the rest, if it's too much for one event, next time.
    func expire(at time: Timestamp) throws(Rejection) -> [Event] {
        let events = Environment.allCases.compactMap { environment -> Event? in
            let slices = self[environment].expired(at: time).prefix(Account.slicesMax)
            guard !slices.isEmpty else { return nil }
            return .coinsExpired(CoinsExpired(environment: environment, slices: Array(slices)))
        }
        guard !events.isEmpty else { throw .nothingExpired }
        return events
    }
}
