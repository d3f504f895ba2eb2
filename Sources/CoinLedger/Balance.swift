/// The coins of an account in one environment at one instant.
package struct Balance: Hashable, Sendable {
    /// Coins whose time isn't over, held ones among them.
    package let paid: Coins
    package let free: Coins
    package let held: Coins
    package let debt: Coins
    /// When the next coins expire; nil if none do.
    package let nextExpiry: Timestamp?

    package static let zero = Balance(
        paid: .zero, free: .zero, held: .zero, debt: .zero, nextExpiry: nil)

    package init(
        paid: Coins, free: Coins, held: Coins, debt: Coins, nextExpiry: Timestamp?
    ) {
        self.paid = paid
        self.free = free
        self.held = held
        self.debt = debt
        self.nextExpiry = nextExpiry
    }

    /// Paid and free coins together; `decide` keeps the sum within the range of `Coins`.
    package var total: Coins { paid.addingSaturated(free) }

    /// What can be spent: nothing while there is debt.
    package var available: Coins { debt > .zero ? .zero : total.subtracting(held) }
}

extension Purse {
    package func balance(at time: Timestamp) -> Balance {
        let held = holds.lazy.filter { !$0.isExpired(at: time) }.map(\.coins).sum()
        guard let next = nextExpiry, next <= time else {
            return Balance(
                paid: paid, free: free, held: held, debt: debt, nextExpiry: nextExpiry)
        }
        // Coins that expire while they are held can still be captured.
        let lapsed = expired(at: time).coins
        let later = openLots.lazy.compactMap(\.lot.expiresAt).filter { $0 > time }.min()
        return Balance(
            paid: paid.subtracting(lapsed.paid), free: free.subtracting(lapsed.free), held: held,
            debt: debt, nextExpiry: later)
    }
}

/// The balances of an account after one of its events.
package struct AccountBalance: Hashable, Sendable {
    package let version: Int64
    package let production: Balance
    package let sandbox: Balance

    /// Of an account nothing has happened to.
    package static let zero = AccountBalance(version: 0, production: .zero, sandbox: .zero)

    package init(version: Int64, production: Balance, sandbox: Balance) {
        self.version = version
        self.production = production
        self.sandbox = sandbox
    }

    package subscript(environment: Environment) -> Balance {
        switch environment {
        case .production: production
        case .sandbox: sandbox
        }
    }
}

extension Account {
    package func balance(at time: Timestamp) -> AccountBalance {
        AccountBalance(
            version: version, production: production.balance(at: time),
            sandbox: sandbox.balance(at: time))
    }
}
