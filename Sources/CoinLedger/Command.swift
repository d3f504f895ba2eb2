/// A wish to change one account. Everything it depends on comes with it: no clock, no chance.
package struct Command: Hashable, Sendable {
    package let id: CommandID
    package let account: AccountID
    /// When the wish was made; what it causes is recorded at this instant.
    package let time: Timestamp
    package let action: Action

    package init(id: CommandID, account: AccountID, time: Timestamp, action: Action) {
        self.id = id
        self.account = account
        self.time = time
        self.action = action
    }

    package enum Action: Hashable, Sendable {
        case grantPurchase(PurchaseGrant)
        case linkAppAccountToken(AppAccountToken)
    }
}

/// A verified purchase and what the catalogue says it's worth.
package struct PurchaseGrant: Hashable, Sendable {
    package let purchase: Purchase
    package let coins: GrantedCoins
    package let catalogueVersion: String

    package init(purchase: Purchase, coins: GrantedCoins, catalogueVersion: String) {
        self.purchase = purchase
        self.coins = coins
        self.catalogueVersion = catalogueVersion
    }
}

/// What the ledger knows outside the account itself and a decision depends on.
package struct Facts: Hashable, Sendable {
    package var claims: [PurchaseKey: PurchaseClaim]
    package var tokenOwners: [AppAccountToken: AccountID]

    package init(
        claims: [PurchaseKey: PurchaseClaim] = [:],
        tokenOwners: [AppAccountToken: AccountID] = [:]
    ) {
        self.claims = claims
        self.tokenOwners = tokenOwners
    }
}

/// Why a command changes nothing.
package enum Rejection: Error, Hashable, Sendable {
    /// The purchase was granted to this account before, by another command.
    case alreadyGranted(PurchaseClaim)
    /// This very command has been carried out before; its first answer was lost.
    case alreadyDone(PurchaseClaim)
    /// The purchase was granted to another account.
    case grantedToOtherAccount
    /// The purchase carries an account token that isn't linked to this account.
    case belongsToOtherAccount
    /// The token is linked to this account already.
    case tokenAlreadyLinked
    /// The token is linked to another account.
    case tokenLinkedToOtherAccount
    /// The coins would take the balance over the largest that is kept.
    case balanceTooLarge
}
