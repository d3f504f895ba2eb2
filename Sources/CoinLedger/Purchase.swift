/// A store that sells coins.
package enum Store: String, Hashable, Sendable, CaseIterable {
    case appStore = "app_store"
}

/// Where money was real and where it was play money. Coins of the two never mix.
package enum Environment: String, Hashable, Sendable, CaseIterable {
    case production = "Production"
    case sandbox = "Sandbox"
}

/// What a purchase is claimed by: at most one grant for each, for ever.
package struct PurchaseKey: Hashable, Sendable {
    package let store: Store
    package let environment: Environment
    package let transactionID: TransactionID

    package init(store: Store, environment: Environment, transactionID: TransactionID) {
        self.store = store
        self.environment = environment
        self.transactionID = transactionID
    }
}

/// What the store says a purchase cost: the total for the whole quantity, never multiplied here.
package struct StatedPrice: Hashable, Sendable {
    /// Thousandths of one unit of the currency, whatever its minor unit.
    package let milliunits: Int64
    /// ISO 4217, as the store wrote it.
    package let currency: String

    package init(milliunits: Int64, currency: String) {
        self.milliunits = milliunits
        self.currency = currency
    }
}

/// A consumable bought from a store, as verified.
package struct Purchase: Hashable, Sendable {
    package let key: PurchaseKey
    /// Differs from the transaction's own id where the store has issued it anew.
    package let originalTransactionID: TransactionID
    package let productID: String
    package let quantity: Int64
    package let price: StatedPrice?
    /// ISO 3166-1 alpha-3, as the store wrote it.
    package let storefront: String?
    package let purchasedAt: Timestamp
    /// When the store signed what was verified, if it says so.
    package let signedAt: Timestamp?
    package let appAccountToken: AppAccountToken?

    package init(
        key: PurchaseKey, originalTransactionID: TransactionID, productID: String,
        quantity: Int64, price: StatedPrice?, storefront: String?, purchasedAt: Timestamp,
        signedAt: Timestamp?, appAccountToken: AppAccountToken?
    ) {
        self.key = key
        self.originalTransactionID = originalTransactionID
        self.productID = productID
        self.quantity = quantity
        self.price = price
        self.storefront = storefront
        self.purchasedAt = purchasedAt
        self.signedAt = signedAt
        self.appAccountToken = appAccountToken
    }

    /// Every key that a grant of this purchase claims: its own, and that of the transaction it
    /// was first known by.
    package var claimedKeys: [PurchaseKey] {
        if originalTransactionID == key.transactionID { return [key] }
        return [
            key,
            PurchaseKey(
                store: key.store, environment: key.environment,
                transactionID: originalTransactionID),
        ]
    }
}

/// That a purchase has been granted, when and to whom.
package struct PurchaseClaim: Hashable, Sendable {
    package let account: AccountID
    package let command: CommandID
    /// The event that granted the coins.
    package let grant: EventID
    package let coins: GrantedCoins

    package init(
        account: AccountID, command: CommandID, grant: EventID, coins: GrantedCoins
    ) {
        self.account = account
        self.command = command
        self.grant = grant
        self.coins = coins
    }
}

/// The coins of one grant by kind.
package struct GrantedCoins: Hashable, Sendable {
    package let paid: Coins
    package let free: Coins

    package init(paid: Coins, free: Coins) {
        self.paid = paid
        self.free = free
    }

    static let none = GrantedCoins(paid: .zero, free: .zero)

    /// With so many more of one kind.
    func adding(_ coins: Coins, _ kind: Lot.Kind) -> GrantedCoins {
        switch kind {
        case .paid: GrantedCoins(paid: paid.addingSaturated(coins), free: free)
        case .free: GrantedCoins(paid: paid, free: free.addingSaturated(coins))
        }
    }
}
