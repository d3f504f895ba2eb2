package import CoinLedger

extension Timestamp {
    package static let noon: Timestamp = "2026-11-30T12:00:00Z"

    /// So much later than noon, or earlier if it's negative.
    package static func noon(plus milliseconds: Int64) -> Timestamp {
        guard let time = Timestamp(milliseconds: noon.milliseconds + milliseconds) else {
            preconditionFailure("\(milliseconds) ms from noon is out of range")
        }
        return time
    }
}

extension CommandID {
    /// The same command for the same number.
    package static func numbered(_ number: UInt64) -> CommandID {
        CommandID(high: 0x0102_0304_0506_0708, low: number)
    }
}

extension PurchaseKey {
    package static func appStore(
        _ id: TransactionID, _ environment: Environment = .production
    ) -> PurchaseKey {
        PurchaseKey(store: .appStore, environment: environment, transactionID: id)
    }
}

extension Purchase {
    /// Two minutes before noon, of a product that the tests' catalogues call by the same name.
    package static func appStore(
        _ id: TransactionID, original: TransactionID? = nil,
        environment: Environment = .production, token: AppAccountToken? = nil,
        price: Int64? = 990
    ) -> Purchase {
        Purchase(
            key: .appStore(id, environment), originalTransactionID: original ?? id,
            productID: "coins100", quantity: 1,
            price: price.map { StatedPrice(milliunits: $0, currency: "USD") }, storefront: "USA",
            purchasedAt: "2026-11-30T11:58:00Z", signedAt: "2026-11-30T11:58:01Z",
            appAccountToken: token)
    }
}

extension OrderedPurchase {
    package static func appStore(
        _ id: TransactionID, _ environment: Environment = .production
    ) -> OrderedPurchase {
        OrderedPurchase(
            key: .appStore(id, environment), productID: "coins100",
            purchasedAt: "2026-11-30T11:58:00Z")
    }
}

extension Lot {
    /// With the price that `Purchase.appStore` states, if no other is given.
    package static func paid(
        _ number: Int64, _ coins: Coins, price: Int64? = 990, until expiry: Timestamp? = nil
    ) -> Lot {
        Lot(
            number: number, kind: .paid, coins: coins, expiresAt: expiry,
            price: price.map { StatedPrice(milliunits: $0, currency: "USD") })
    }

    package static func free(
        _ number: Int64, _ coins: Coins, until expiry: Timestamp? = nil
    ) -> Lot {
        Lot(number: number, kind: .free, coins: coins, expiresAt: expiry)
    }
}

extension Slice {
    package static func paid(_ lot: Int64, _ coins: Coins, value: Int64? = nil) -> Slice {
        Slice(
            lot: lot, kind: .paid, coins: coins,
            value: value.map { StatedPrice(milliunits: $0, currency: "USD") })
    }

    package static func free(_ lot: Int64, _ coins: Coins) -> Slice {
        Slice(lot: lot, kind: .free, coins: coins, value: nil)
    }
}

extension Command {
    /// Wishes a purchase to be granted, at noon.
    package static func grant(
        _ id: TransactionID, original: TransactionID? = nil, to account: AccountID,
        paid: Coins = 100, free: Coins = 0, environment: Environment = .production,
        token: AppAccountToken? = nil, command: UInt64 = 1
    ) -> Command {
        let purchase = Purchase.appStore(
            id, original: original, environment: environment, token: token)
        let grant = PurchaseGrant(
            purchase: purchase, coins: GrantedCoins(paid: paid, free: free),
            catalogueVersion: "2026-11")
        return Command(
            id: .numbered(command), account: account, time: .noon, action: .grantPurchase(grant))
    }

    /// Wishes a token to be linked, at noon.
    package static func link(
        _ token: AppAccountToken, to account: AccountID, command: UInt64 = 1
    ) -> Command {
        Command(
            id: .numbered(command), account: account, time: .noon,
            action: .linkAppAccountToken(token))
    }
}
