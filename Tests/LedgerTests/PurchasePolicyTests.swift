import AppStore
import CoinLedger
import CoinLedgerService
import LedgerTestSupport
import Testing

@Suite struct `The purchase policy` {
    private static let noon: Int64 = 1_796_040_000_000

    @Test func `takes everything the store states`() throws {
        let transaction = try transaction(
            "T2", original: "T1", quantity: 3, token: "6f9619ff-8b86-d011-b42d-00cf4fc964ff",
            price: 2970, currency: "USD")
        let grant = try policy().grant(for: transaction, to: "u1", at: .noon)
        #expect(
            grant
                == PurchaseGrant(
                    purchase: Purchase(
                        key: .appStore("T2"), originalTransactionID: "T1",
                        productID: "coins100", quantity: 3,
                        price: StatedPrice(milliunits: 2970, currency: "USD"),
                        storefront: "USA", purchasedAt: .noon,
                        signedAt: "2026-11-30T12:00:01Z",
                        appAccountToken: "6f9619ff-8b86-d011-b42d-00cf4fc964ff"),
                    coins: GrantedCoins(paid: 300, free: 30), catalogueVersion: "2026-11"))
    }

    @Test func `takes an app receipt's purchase, which says less`() throws {
        let transaction = try StoreTransaction(
            transactionID: "T1", bundleID: "com.example.app", productID: "coins100",
            environment: .production, purchaseDate: Self.noon)
        let grant = try policy().grant(for: transaction, to: "u1", at: .noon)
        #expect(grant.purchase.price == nil)
        #expect(grant.purchase.signedAt == nil)
        #expect(grant.purchase.originalTransactionID == "T1")
        #expect(grant.coins == GrantedCoins(paid: 100, free: 10))
    }

    @Test(arguments: [(100, nil), (nil, "USD")] as [(Int64?, String?)])
    func `keeps no half of a price`(price: Int64?, currency: String?) throws {
        let transaction = try transaction(price: price, currency: currency)
        #expect(try policy().grant(for: transaction, to: "u1", at: .noon).purchase.price == nil)
    }

    @Test func `lets free coins expire by the instant of the grant`() throws {
        let rule = ExpiryRule(days: 180, zone: try ZoneRules(name: "Asia/Tokyo"))
        let grant = try policy(freeExpiry: rule).grant(
            for: transaction(date: 1_767_225_600_000), to: "u1", at: .noon)
        #expect(grant.freeExpiresAt == "2027-05-29T15:00:00Z")
    }

    @Test func `goes by the instant of the purchase`() throws {
        let before = try transaction(date: 1_767_225_599_999)
        #expect(reason(before) == .unknownProduct)
        let after = try transaction(date: 1_767_225_600_000)
        #expect(reason(after) == nil)
    }

    @Test func `refuses what isn't a purchase of one of the apps' coins`() throws {
        #expect(reason(try transaction(bundle: "com.example.other")) == .wrongApp)
        #expect(reason(try transaction(bundle: "com.example.App")) == .wrongApp)
        #expect(reason(try transaction(product: "coins90_old")) == .unknownProduct)
        for type in ["Non-Consumable", "Auto-Renewable Subscription", "consumable", ""] {
            #expect(reason(try transaction(type: type)) == .notConsumable)
        }
        #expect(reason(try transaction(ownership: "FAMILY_SHARED")) == .notPurchased)
        let revocation = try StoreRevocation(date: Self.noon)
        #expect(reason(try transaction(revocation: revocation)) == .refunded)
    }

    @Test(
        arguments: [
            (1, nil), (10, nil), (11, .quantityOutOfRange), (2_147_483_647, .quantityOutOfRange),
        ]
            as [(Int64, PurchaseRefusalReason?)])
    func `takes quantities up to a limit`(quantity: Int64, refusal: PurchaseRefusalReason?) throws {
        #expect(reason(try transaction(quantity: quantity)) == refusal)
    }

    @Test func `refuses more coins than there can be`() throws {
        #expect(reason(try transaction(product: "most", quantity: 1)) == nil)
        #expect(reason(try transaction(product: "most", quantity: 2)) == .balanceTooLarge)
    }

    @Test(arguments: [StoreEnvironment.xcode, .localTesting, .other("Staging"), .other("")])
    func `refuses other worlds than production and sandbox`(environment: StoreEnvironment) throws {
        #expect(reason(try transaction(environment: environment)) == .environmentRefused)
    }

    @Test func `takes play money as it's told to`() throws {
        let sandbox = try transaction(environment: .sandbox)
        #expect(reason(sandbox, .refuse) == .sandboxRefused)
        #expect(reason(sandbox, .separate) == nil)
        #expect(reason(sandbox, .allowList(["u2", "u1"])) == nil)
        #expect(reason(sandbox, .allowList(["u2"])) == .sandboxRefused)
        #expect(reason(sandbox, .allowList([])) == .sandboxRefused)
        // Real money is taken whatever is done with play money.
        #expect(reason(try transaction(), .refuse) == nil)
        let grant = try policy(.separate).grant(for: sandbox, to: "u1", at: .noon)
        #expect(grant.purchase.key == .appStore("T1", .sandbox))
    }

    private func policy(
        _ sandbox: SandboxPolicy = .separate, freeExpiry: ExpiryRule? = nil
    ) throws -> PurchasePolicy {
        let catalogue = try Catalogue(
            version: "2026-11", bundleIDs: ["com.example.app", "com.example.second"],
            products: [
                Catalogue.Product(
                    id: "coins100", coins: GrantedCoins(paid: 100, free: 10),
                    validity: .init(from: "2026-01-01T00:00:00Z", until: nil)),
                Catalogue.Product(
                    id: "most", coins: GrantedCoins(paid: 9_007_199_254_740_991, free: 0)),
            ])
        return PurchasePolicy(
            catalogue: catalogue, sandbox: sandbox, quantityMax: 10,
            freeExpiry: freeExpiry)
    }

    /// Why it's refused, or nil if it's granted.
    private func reason(
        _ transaction: StoreTransaction, _ sandbox: SandboxPolicy = .separate
    ) -> PurchaseRefusalReason? {
        do {
            _ = try policy(sandbox).grant(for: transaction, to: "u1", at: .noon)
            return nil
        } catch {
            guard let reason = error as? PurchaseRefusalReason else {
                Issue.record("unexpected: \(error)")
                return nil
            }
            return reason
        }
    }

    private func transaction(
        _ id: String = "T1", original: String? = nil, bundle: String = "com.example.app",
        product: String = "coins100", quantity: Int64 = 1,
        environment: StoreEnvironment = .production, date: Int64 = noon,
        type: String? = "Consumable", ownership: String? = "PURCHASED", token: String? = nil,
        price: Int64? = 990, currency: String? = "USD", revocation: StoreRevocation? = nil
    ) throws -> StoreTransaction {
        try StoreTransaction(
            transactionID: id, originalTransactionID: original, bundleID: bundle,
            productID: product, quantity: quantity, environment: environment, purchaseDate: date,
            signedDate: Self.noon + 1000, type: type, ownership: ownership,
            appAccountToken: token, price: price, currency: currency, storefront: "USA",
            revocation: revocation)
    }
}
