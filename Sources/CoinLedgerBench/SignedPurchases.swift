import AppStoreStandIn
import Base
import Glibc

/// Transactions as the App Store signs them, each with an id of its own.
struct SignedPurchases {
    private let chain: SigningChain
    private var lastID: Int64

    init(_ authority: StandInAuthority, firstID: Int64) {
        chain = authority.chain
        lastID = firstID
    }

    mutating func next() -> String {
        lastID += 1
        let now = Int64(time(nil)) * 1000
        let id = "\(lastID)"
        let payload: JSON = [
            "transactionId": .string(id), "originalTransactionId": .string(id),
            "bundleId": .string(Workbench.bundleID), "productId": .string(Workbench.productID),
            "purchaseDate": .integer(now), "originalPurchaseDate": .integer(now), "quantity": 1,
            "type": "Consumable", "inAppOwnershipType": "PURCHASED", "signedDate": .integer(now),
            "environment": "Production", "transactionReason": "PURCHASE", "storefront": "JPN",
            "storefrontId": "143462", "price": 120_000, "currency": "JPY",
        ]
        return chain.sign(payload)
    }
}
