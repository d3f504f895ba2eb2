/// The state of a coin account after `version` events.
package struct Account: Hashable, Sendable {
    /// How many events the account has.
    package private(set) var version: Int64
    package private(set) var production: Purse
    package private(set) var sandbox: Purse
    /// How many lots it has ever had: the number of its last one.
    package private(set) var lotCount: Int64
    /// Whether the store may be told what has become of its purchases; nil if nobody has said.
    package private(set) var consent: Bool?

    /// The account nothing has happened to yet.
    package static let new = Account(
        version: 0, production: .empty, sandbox: .empty, lotCount: 0)

    package init(
        version: Int64, production: Purse, sandbox: Purse, lotCount: Int64, consent: Bool? = nil
    ) {
        self.version = version
        self.production = production
        self.sandbox = sandbox
        self.lotCount = lotCount
        self.consent = consent
    }

    /// Whether it has lots that haven't been read.
    package var isPartial: Bool { production.isPartial || sandbox.isPartial }

    /// Whether it can't tell what it has at `time`: some lots that haven't been read have expired.
    package func isUncertain(at time: Timestamp) -> Bool {
        Environment.allCases.contains { environment in
            let purse = self[environment]
            guard purse.isPartial, let expiry = purse.nextExpiry else { return false }
            return expiry <= time
        }
    }

    package subscript(environment: Environment) -> Purse {
        get {
            switch environment {
            case .production: production
            case .sandbox: sandbox
            }
        }
        _modify {
            switch environment {
            case .production: yield &production
            case .sandbox: yield &sandbox
            }
        }
    }

    /// Takes in what has happened. Decides nothing: an event is a fact.
    package mutating func evolve(_ event: Event, id: EventID) {
        // A stored number is never trusted so far that a sum could trap.
        version &+= 1
        switch event {
        case .purchaseRecorded, .appAccountTokenLinked, .refundRemembered, .orderRecorded: break
        case .coinsGranted(let granted):
            for lot in granted.lots { add(lot, granted.environment, id) }
        case .coinsSpent(let spent):
            if let hold = spent.hold { self[spent.environment].endHold(hold) }
            self[spent.environment].take(spent.slices)
        case .spendReversed(let reversed):
            self[reversed.environment].give(reversed.returned)
        case .coinsExpired(let expired):
            self[expired.environment].take(expired.slices)
        case .coinsAdjusted(let adjusted):
            switch adjusted.change {
            case .added(let lot): add(lot, adjusted.environment, id)
            case .removed(let slices): self[adjusted.environment].take(slices)
            }
        case .coinsHeld(let held):
            let hold = Hold(
                id: id, coins: held.coins, purpose: held.purpose, expiresAt: held.expiresAt,
                slices: held.slices)
            self[held.environment].add(hold, at: held.heldAt)
        case .holdReleased(let released):
            self[released.environment].endHold(released.hold)
        case .purchaseRefunded(let event): evolve(event)
        case .refundReversed(let event): evolve(event)
        case .debtPaid(let event): evolve(event)
        case .consentRecorded(let recorded): consent = recorded.isGiven
        }
    }

    private mutating func add(_ lot: Lot, _ environment: Environment, _ id: EventID) {
        self[environment].add(OpenLot(lot, openedAt: id.position))
        lotCount = max(lotCount, lot.number)
    }

    private mutating func evolve(_ event: PurchaseRefunded) {
        let environment = event.purchase.environment
        self[environment].take(event.taken.map(\.slice))
        self[environment].update(event.purchase) { refund in
            refund.signedAt = event.signedAt
            refund.percentage = event.percentage
            refund.take(event.taken)
            refund.debt = refund.debt.addingSaturated(event.debt)
            refund.writtenOff = refund.writtenOff.addingSaturated(event.writtenOff)
        }
    }

    private mutating func evolve(_ event: RefundReversed) {
        let environment = event.purchase.environment
        self[environment].give(event.returned)
        self[environment].update(event.purchase) { refund in
            refund = Refund()
            refund.signedAt = event.signedAt
        }
    }

    private mutating func evolve(_ event: DebtPaid) {
        let environment = event.purchase.environment
        self[environment].take(event.taken.map(\.slice))
        self[environment].update(event.purchase) { refund in
            refund.take(event.taken)
            refund.debt = refund.debt.subtracting(event.taken.map(\.coins).sum())
        }
    }
}

extension ReturnedSlice {
    /// The same on its way out.
    package var slice: Slice {
        Slice(lot: lot.number, kind: lot.kind, coins: coins, value: value)
    }
}
