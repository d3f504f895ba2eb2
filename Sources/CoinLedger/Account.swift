/// The state of a coin account after `version` events.
package struct Account: Hashable, Sendable {
    /// How many events the account has.
    package private(set) var version: Int64
    package private(set) var production: Balance
    package private(set) var sandbox: Balance
    /// How many lots it has ever had: the number of its last one.
    package private(set) var lotCount: Int64

    /// The account nothing has happened to yet.
    package static let new = Account(version: 0, production: .zero, sandbox: .zero, lotCount: 0)

    package init(version: Int64, production: Balance, sandbox: Balance, lotCount: Int64) {
        self.version = version
        self.production = production
        self.sandbox = sandbox
        self.lotCount = lotCount
    }

    package subscript(environment: Environment) -> Balance {
        get {
            switch environment {
            case .production: production
            case .sandbox: sandbox
            }
        }
        set {
            switch environment {
            case .production: production = newValue
            case .sandbox: sandbox = newValue
            }
        }
    }

    /// Takes in what has happened. Decides nothing: an event is a fact.
    package mutating func evolve(_ event: Event) {
        version += 1
        switch event {
        case .purchaseRecorded, .appAccountTokenLinked: break
        case .coinsGranted(let granted):
            for lot in granted.lots {
                self[granted.environment].add(lot)
                lotCount = max(lotCount, lot.number)
            }
        }
    }
}

/// The coins of an account in one environment.
package struct Balance: Hashable, Sendable {
    package private(set) var paid: Coins
    package private(set) var free: Coins

    package static let zero = Balance(paid: .zero, free: .zero)

    package init(paid: Coins, free: Coins) {
        self.paid = paid
        self.free = free
    }

    /// Paid and free coins together; `decide` keeps the sum within the range of `Coins`.
    package var total: Coins { paid.adding(free) ?? paid }

    /// The balance with `coins` added, or nil if the sum leaves the range of `Coins`.
    func adding(_ coins: GrantedCoins) -> Balance? {
        guard let paid = paid.adding(coins.paid), let free = free.adding(coins.free),
            paid.adding(free) != nil
        else { return nil }
        return Balance(paid: paid, free: free)
    }

    fileprivate mutating func add(_ lot: Lot) {
        switch lot.kind {
        case .paid: paid = paid.adding(lot.coins) ?? paid
        case .free: free = free.adding(lot.coins) ?? free
        }
    }
}
