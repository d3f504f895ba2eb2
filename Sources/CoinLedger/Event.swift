/// What has happened to an account. Stored for ever; a changed payload is a new schema version.
package enum Event: Hashable, Sendable {
    case purchaseRecorded(PurchaseRecorded)
    case coinsGranted(CoinsGranted)
    case appAccountTokenLinked(AppAccountToken)
}

/// A verified purchase, with everything the store stated about it.
package struct PurchaseRecorded: Hashable, Sendable {
    package let purchase: Purchase
    /// The catalogue that said how many coins it is worth.
    package let catalogueVersion: String

    package init(purchase: Purchase, catalogueVersion: String) {
        self.purchase = purchase
        self.catalogueVersion = catalogueVersion
    }
}

/// Coins that have come into an account, as lots.
package struct CoinsGranted: Hashable, Sendable {
    package let environment: Environment
    package let source: Source
    /// At least one, numbered on from the account's last.
    package let lots: [Lot]

    package init(environment: Environment, source: Source, lots: [Lot]) {
        self.environment = environment
        self.source = source
        self.lots = lots
    }

    /// Where the coins came from.
    package enum Source: Hashable, Sendable {
        case purchase(PurchaseKey)
    }

    package var coins: GrantedCoins {
        func total(_ kind: Lot.Kind) -> Coins {
            lots.filter { $0.kind == kind }
                .reduce(Coins.zero) { $0.adding($1.coins) ?? $0 }
        }
        return GrantedCoins(paid: total(.paid), free: total(.free))
    }
}

/// Coins that came in together: of one kind, from one source, with one expiry.
package struct Lot: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case paid, free
    }

    /// 1, 2, 3 … within the account.
    package let number: Int64
    package let kind: Kind
    package let coins: Coins
    /// The coins can't be spent from this instant on; nil for never.
    package let expiresAt: Timestamp?

    package init(number: Int64, kind: Kind, coins: Coins, expiresAt: Timestamp? = nil) {
        self.number = number
        self.kind = kind
        self.coins = coins
        self.expiresAt = expiresAt
    }
}
