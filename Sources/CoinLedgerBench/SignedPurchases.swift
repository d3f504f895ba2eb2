import AppStoreStandIn
import Base
import Glibc

/// Transactions as the App Store signs them, each with an id of its own.
struct SignedPurchases {
    let chain: SigningChain
    private var lastID: Int64

    init(_ authority: StandInAuthority, firstID: Int64) {
        chain = authority.chain
        lastID = firstID
    }

    mutating func next(appAccountToken: String? = nil) -> String {
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
            "appAccountToken": appAccountToken.map { .string($0) } ?? .null,
        ]
        return chain.sign(payload)
    }
}

/// The store's word on purchases of its own making, each with an id of its own.
struct SignedNotifications {
    private var purchases: SignedPurchases

    /// How many viewers there are.
    static let accountCount: Int64 = 100

    init(_ authority: StandInAuthority, firstID: Int64) {
        purchases = SignedPurchases(authority, firstID: firstID)
    }

    /// An account's name, which is its token as well.
    static func account(_ number: Int64) -> String {
        "e4e0b18b-7a5c-4d1e-9f2a-\(String(100_000_000_000 + number))"
    }

    mutating func next() -> String {
        let now = Int64(time(nil)) * 1000
        let account = Int64.random(in: 0..<SignedNotifications.accountCount)
        let transaction = purchases.next(appAccountToken: SignedNotifications.account(account))
        let uuid = [UInt32](repeating: 0, count: 4).map { _ in
            let hex = String(UInt32.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 8 - hex.count) + hex
        }.joined()
        let payload: JSON = [
            "notificationType": "ONE_TIME_CHARGE",
            "notificationUUID": .string(SignedNotifications.dashed(uuid)),
            "version": "2.0", "signedDate": .integer(now),
            "data": [
                "appAppleId": 1_234_567_890, "bundleId": .string(Workbench.bundleID),
                "bundleVersion": "1", "environment": "Production",
                "signedTransactionInfo": .string(transaction),
            ],
        ]
        return purchases.chain.sign(payload)
    }

    private static func dashed(_ digits: String) -> String {
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }
}
