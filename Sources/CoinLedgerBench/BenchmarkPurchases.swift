import Base
import CoinLedger

/// Purchases without end, each with a transaction id of its own.
struct BenchmarkPurchases {
    private var lastID: Int64
    private var random: SeededRandom

    /// - Parameter firstID: apart from those of others that write to the same ledger.
    init(firstID: Int64) {
        lastID = firstID
        random = SeededRandom(seed: UInt64(bitPattern: firstID))
    }

    /// One of `accountCount` accounts, which are numbered from 1.
    mutating func accountNumber(of accountCount: Int64) -> Int64 {
        .random(in: 1...accountCount, using: &random)
    }

    mutating func next(for account: AccountID, at time: Timestamp) -> Command {
        lastID += 1
        guard let id = TransactionID("\(lastID)"), let paid = Coins(100), let free = Coins(10)
        else {
            preconditionFailure("a number is a transaction id")
        }
        let purchase = Purchase(
            key: PurchaseKey(store: .appStore, environment: .production, transactionID: id),
            originalTransactionID: id, productID: Workbench.productID, quantity: 1,
            price: StatedPrice(milliunits: 120_000, currency: "JPY"), storefront: "JPN",
            purchasedAt: time, signedAt: time, appAccountToken: nil)
        let grant = PurchaseGrant(
            purchase: purchase, coins: GrantedCoins(paid: paid, free: free),
            catalogueVersion: "bench-1")
        let command = CommandID(high: UInt64(lastID), low: random.next())
        return Command(id: command, account: account, time: time, action: .grantPurchase(grant))
    }
}
