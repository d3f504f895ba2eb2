package import CoinLedger

extension Timestamp {
    package static let noon: Timestamp = "2026-11-30T12:00:00Z"
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
        environment: Environment = .production, token: AppAccountToken? = nil
    ) -> Purchase {
        Purchase(
            key: .appStore(id, environment), originalTransactionID: original ?? id,
            productID: "coins100", quantity: 1,
            price: StatedPrice(milliunits: 990, currency: "USD"), storefront: "USA",
            purchasedAt: "2026-11-30T11:58:00Z", signedAt: "2026-11-30T11:58:01Z",
            appAccountToken: token)
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
