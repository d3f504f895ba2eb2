package import AppStore
package import CoinLedger

/// What a verified transaction must be to be worth coins.
package struct PurchasePolicy: Sendable {
    package let catalogue: Catalogue
    package let sandbox: SandboxPolicy
    /// The largest quantity of one purchase.
    package let quantityMax: Int64
    /// When the free coins that come with a purchase expire; nil for never.
    package let freeExpiry: ExpiryRule?

    package init(
        catalogue: Catalogue, sandbox: SandboxPolicy, quantityMax: Int64, freeExpiry: ExpiryRule?
    ) {
        self.catalogue = catalogue
        self.sandbox = sandbox
        self.quantityMax = quantityMax
        self.freeExpiry = freeExpiry
    }

    /// What `transaction` claims and is worth.
    ///
    /// - Throws: the first reason for which `transaction` isn't worth anything to `account`.
    package func grant(
        for transaction: StoreTransaction, to account: AccountID, at time: Timestamp,
        redelivery: Redelivery? = nil
    ) throws(PurchaseRefusalReason) -> PurchaseGrant {
        guard catalogue.bundleIDs.contains(transaction.bundleID) else { throw .wrongApp }
        let environment = try environment(of: transaction, account)
        // An app receipt says nothing of type and ownership; only consumables are taken from it.
        guard transaction.type ?? "Consumable" == "Consumable" else { throw .notConsumable }
        guard transaction.ownership ?? "PURCHASED" == "PURCHASED" else { throw .notPurchased }
        guard (1...quantityMax).contains(transaction.quantity) else { throw .quantityOutOfRange }
        guard transaction.revocation == nil else { throw .refunded }
        let purchase = try purchase(transaction, environment)
        do throws(Catalogue.WorthError) {
            let coins = try catalogue.worth(
                of: purchase.productID, quantity: purchase.quantity, at: purchase.purchasedAt)
            return PurchaseGrant(
                purchase: purchase, coins: coins, catalogueVersion: catalogue.version,
                freeExpiresAt: freeExpiry?.expiry(of: time), redelivery: redelivery)
        } catch {
            switch error {
            case .unknownProduct: throw .unknownProduct
            case .tooManyCoins: throw .balanceTooLarge
            }
        }
    }

    /// Why `transaction` isn't worth anything to anybody; nil if it may be to somebody.
    func refusal(of transaction: StoreTransaction, at time: Timestamp) -> PurchaseRefusalReason? {
        do throws(PurchaseRefusalReason) {
            _ = try grant(for: transaction, to: .unclaimed, at: time)
            return nil
        } catch {
            // Perhaps it belongs to an account of the list.
            if error == .sandboxRefused, sandbox != .refuse { return nil }
            return error
        }
    }

    private func environment(
        of transaction: StoreTransaction, _ account: AccountID
    ) throws(PurchaseRefusalReason) -> Environment {
        switch transaction.environment {
        case .production: return .production
        case .sandbox:
            guard sandbox.allows(account) else { throw .sandboxRefused }
            return .sandbox
        case .xcode, .localTesting, .other: throw .environmentRefused
        }
    }

    private func purchase(
        _ transaction: StoreTransaction, _ environment: Environment
    ) throws(PurchaseRefusalReason) -> Purchase {
        guard let id = TransactionID(transaction.transactionID),
            let originalID = TransactionID(transaction.originalTransactionID),
            let purchasedAt = Timestamp(milliseconds: transaction.purchaseDate)
        else { throw .malformed }
        var price: StatedPrice?
        if let milliunits = transaction.price, let currency = transaction.currency {
            price = StatedPrice(milliunits: milliunits, currency: currency)
        }
        return Purchase(
            key: PurchaseKey(store: .appStore, environment: environment, transactionID: id),
            originalTransactionID: originalID, productID: transaction.productID,
            quantity: transaction.quantity, price: price, storefront: transaction.storefront,
            purchasedAt: purchasedAt,
            signedAt: transaction.signedDate.flatMap(Timestamp.init(milliseconds:)),
            appAccountToken: transaction.appAccountToken.flatMap(AppAccountToken.init))
    }
}
