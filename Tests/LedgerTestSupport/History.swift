package import CoinLedger

/// One account with its log and everything that a writer would look up for it: commands go in,
/// events and the state after them come out.
package struct History: Sendable {
    package let id: AccountID
    package private(set) var account = Account.new
    package private(set) var log: [Entry] = []
    package var facts = Facts()
    /// Where the store's words on purchases that nobody has are remembered.
    package private(set) var unclaimed = Account.new

    package struct Entry: Sendable {
        package let id: EventID
        package let event: Event
    }

    package init(of id: AccountID = "u1", _ events: Event...) {
        self.id = id
        for event in events { append(event) }
    }

    /// Decides, and takes in what comes of it.
    @discardableResult
    package mutating func carryOut(
        _ action: Command.Action, at time: Timestamp = .noon, command number: UInt64? = nil
    ) throws(Rejection) -> [Event] {
        let number = number ?? UInt64(log.count) + 1_000_000
        if case .rememberRefund = action { return try remember(action, at: time) }
        let command = Command(id: .numbered(number), account: id, time: time, action: action)
        let events = try account.decide(command, knowing: facts)
        for event in events { append(event) }
        if case .grantPurchase(let grant) = action { claim(grant, by: command) }
        return events
    }

    /// Takes in a fact, whether or not a decision could have caused it.
    package mutating func append(_ event: Event) {
        let id = EventID(lane: 0, position: Int64(log.count) + 1)
        log.append(Entry(id: id, event: event))
        account.evolve(event, id: id)
        switch event {
        case .coinsGranted(let granted): for lot in granted.lots { know(lot) }
        case .coinsAdjusted(let adjusted):
            if case .added(let lot) = adjusted.change { know(lot) }
        case .spendReversed(let reversed): facts.reversals[reversed.spend] = id
        case .appAccountTokenLinked(let token): facts.tokenOwners[token] = self.id
        case .orderRecorded(let order): facts.orders[order.id] = id
        case .purchaseRecorded, .coinsSpent, .coinsExpired, .coinsHeld, .holdReleased,
            .purchaseRefunded, .refundReversed, .debtPaid, .refundRemembered, .consentRecorded:
            break
        }
    }

    private mutating func know(_ lot: Lot) {
        facts.lots[LotID(account: id, number: lot.number)] = lot
    }

    private mutating func claim(_ grant: PurchaseGrant, by command: Command) {
        guard let last = log.last else { return }
        for key in grant.purchase.claimedKeys {
            facts.claims[key] = PurchaseClaim(
                account: id, command: command.id, grant: last.id, coins: grant.coins)
            facts.rememberedRefunds[key] = nil
        }
    }

    private mutating func remember(
        _ action: Command.Action, at time: Timestamp
    ) throws(Rejection) -> [Event] {
        let position = unclaimed.version + 1
        let command = Command(
            id: .numbered(UInt64(position)), account: .unclaimed, time: time, action: action)
        let events = try unclaimed.decide(command, knowing: facts)
        for event in events {
            let id = EventID(lane: 1, position: position)
            unclaimed.evolve(event, id: id)
            guard case .refundRemembered(let refund) = event else { continue }
            facts.rememberedRefunds[refund.purchase] = RememberedRefund(refund: refund, event: id)
        }
        return events
    }

    /// The lots that the grant of a purchase opened.
    package func lots(of purchase: PurchaseKey) -> [Lot] {
        for entry in log {
            guard case .coinsGranted(let granted) = entry.event,
                granted.source == .purchase(purchase)
            else { continue }
            return granted.lots
        }
        return []
    }
}
