import Base
package import CoinLedger

/// Where posts that granted nothing are kept for the support desk, for a while.
package protocol AttemptStore: Sendable {
    /// Keeps what came of a post. What is known already is counted once more; of an account's
    /// attempts, `FailedPost.keptMax` are kept.
    func record(_ post: FailedPost) async throws(EventStoreError)

    /// Up to `limit` attempts to have that transaction granted: those first that are more than a
    /// claim, since anybody can claim anything, and of either kind the last ones first.
    func attempts(
        of transaction: TransactionID, limit: Int
    ) async throws(EventStoreError) -> [KeptAttempt]

    /// Up to `limit` attempts of an account, the last ones first.
    func attempts(
        of account: AccountID, where filter: AttemptFilter, limit: Int
    ) async throws(EventStoreError) -> [KeptAttempt]

    /// Forgets up to `limit` attempts that weren't repeated since `time`; returns how many it were.
    func forgetAttempts(
        before time: Timestamp, limit: Int
    ) async throws(EventStoreError) -> Int
}

/// Which attempts of an account are asked for.
package struct AttemptFilter: Hashable, Sendable {
    /// Attempts of purchases dated in this time, or made in it.
    package let from: Timestamp
    package let until: Timestamp
    /// Of this product, or of none that is known; nil for any.
    package let productID: String?

    package init(from: Timestamp, until: Timestamp, productID: String?) {
        self.from = from
        self.until = until
        self.productID = productID
    }
}

/// A post that didn't grant some purchases, or none at all.
package struct FailedPost: Hashable, Sendable {
    package let account: AccountID
    /// Whether what it says of purchases is no more than the poster's claim.
    package let isClaimed: Bool
    package let receiptSHA256: [UInt8]
    /// The receipt itself, if it's to be kept.
    package let receipt: [UInt8]?
    package let time: Timestamp
    /// Sorted, and each of them once.
    package let refusals: [Refusal]

    /// How many attempts of one account are kept.
    package static let keptMax = 500
    /// How many of one post are kept.
    package static let refusalsMax = 256

    package struct Refusal: Hashable, Sendable {
        /// The stable code of the reason, such as `unknown_product`.
        package let code: String
        /// Nil where the receipt doesn't tell.
        package let purchase: AttemptedPurchase?

        package init(code: String, purchase: AttemptedPurchase?) {
            self.code = code
            self.purchase = purchase
        }
    }

    package init(
        account: AccountID, isClaimed: Bool, receiptSHA256: [UInt8], receipt: [UInt8]?,
        time: Timestamp, refusals: [Refusal]
    ) {
        self.account = account
        self.isClaimed = isClaimed
        self.receiptSHA256 = receiptSHA256
        self.receipt = receipt
        self.time = time
        var known: Set<[String]> = []
        var distinct: [(name: [String], refusal: Refusal)] = []
        for refusal in refusals.prefix(FailedPost.refusalsMax) {
            let name = [refusal.code, FailedPost.subject(refusal, receiptSHA256)]
            if known.insert(name).inserted { distinct.append((name, refusal)) }
        }
        self.refusals = distinct.sorted { $0.name.lexicographicallyPrecedes($1.name) }
            .map(\.refusal)
    }

    /// What tells attempts of one account with one reason apart.
    package func subject(of refusal: Refusal) -> String {
        FailedPost.subject(refusal, receiptSHA256)
    }

    private static func subject(_ refusal: Refusal, _ receiptSHA256: [UInt8]) -> String {
        guard let purchase = refusal.purchase else { return Hex.encode(receiptSHA256) }
        return "\(purchase.environment?.rawValue ?? "") \(purchase.transactionID)"
    }
}

/// What is known of a purchase that wasn't granted.
package struct AttemptedPurchase: Hashable, Sendable {
    package let transactionID: TransactionID
    /// Nil if it's none that coins come from.
    package let environment: Environment?
    package let productID: String?
    package let purchasedAt: Timestamp?

    package init(
        transactionID: TransactionID, environment: Environment?, productID: String?,
        purchasedAt: Timestamp?
    ) {
        self.transactionID = transactionID
        self.environment = environment
        self.productID = productID
        self.purchasedAt = purchasedAt
    }
}

/// An attempt as it's kept, with its repetitions.
package struct KeptAttempt: Hashable, Sendable {
    package let account: AccountID
    package let refusal: FailedPost.Refusal
    package let isClaimed: Bool
    /// Of the last one.
    package let receiptSHA256: [UInt8]
    /// Whether the receipt itself is kept, too.
    package let hasReceipt: Bool
    package let firstAt: Timestamp
    package let lastAt: Timestamp
    package let count: Int64

    package init(
        account: AccountID, refusal: FailedPost.Refusal, isClaimed: Bool, receiptSHA256: [UInt8],
        hasReceipt: Bool, firstAt: Timestamp, lastAt: Timestamp, count: Int64
    ) {
        self.account = account
        self.refusal = refusal
        self.isClaimed = isClaimed
        self.receiptSHA256 = receiptSHA256
        self.hasReceipt = hasReceipt
        self.firstAt = firstAt
        self.lastAt = lastAt
        self.count = count
    }

    package var code: String { refusal.code }
    package var purchase: AttemptedPurchase? { refusal.purchase }
}
