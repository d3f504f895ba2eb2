package import CoinLedger
package import EventStore

extension InMemoryEventStore: AttemptStore {
    /// What tells attempts apart.
    struct AttemptName: Hashable {
        let account: AccountID
        let code: String
        let subject: String

        fileprivate func isBefore(_ other: AttemptName) -> Bool {
            [account.text, code, subject].lexicographicallyPrecedes(
                [other.account.text, other.code, other.subject])
        }
    }

    package func record(_ post: FailedPost) throws(EventStoreError) {
        for refusal in post.refusals {
            let name = AttemptName(
                account: post.account, code: refusal.code, subject: post.subject(of: refusal))
            let known = keptAttempts[name]
            keptAttempts[name] = KeptAttempt(
                account: post.account, refusal: known?.refusal ?? refusal,
                isClaimed: known?.isClaimed ?? post.isClaimed, receiptSHA256: post.receiptSHA256,
                hasReceipt: known?.hasReceipt == true || post.receipt != nil,
                firstAt: min(known?.firstAt ?? post.time, post.time),
                lastAt: max(known?.lastAt ?? post.time, post.time), count: (known?.count ?? 0) + 1)
        }
        let kept = keptAttempts.filter { $0.key.account == post.account }.sorted { one, other in
            if one.value.isClaimed != other.value.isClaimed { return other.value.isClaimed }
            return isLater(one, other)
        }
        for old in kept.dropFirst(FailedPost.keptMax) { keptAttempts[old.key] = nil }
    }

    package func attempts(
        of transaction: TransactionID, limit: Int
    ) throws(EventStoreError) -> [KeptAttempt] {
        let proven = latest(limit) {
            $0.purchase?.transactionID == transaction && !$0.isClaimed
        }
        let claimed = latest(limit) { $0.purchase?.transactionID == transaction && $0.isClaimed }
        return Array((proven + claimed).prefix(limit))
    }

    package func attempts(
        of account: AccountID, where filter: AttemptFilter, limit: Int
    ) throws(EventStoreError) -> [KeptAttempt] {
        latest(limit) { $0.account == account && filter.matches($0) }
    }

    package func forgetAttempts(
        before time: Timestamp, limit: Int
    ) throws(EventStoreError) -> Int {
        let old = keptAttempts.filter { $0.value.lastAt < time }
            .sorted { $0.value.lastAt < $1.value.lastAt }.prefix(limit)
        for attempt in old { keptAttempts[attempt.key] = nil }
        return old.count
    }

    private func latest(
        _ limit: Int, where isWanted: (KeptAttempt) -> Bool
    ) -> [KeptAttempt] {
        Array(
            keptAttempts.filter { isWanted($0.value) }.sorted(by: isLater).map(\.value).prefix(
                limit))
    }

    private func isLater(
        _ one: (key: AttemptName, value: KeptAttempt),
        _ other: (key: AttemptName, value: KeptAttempt)
    ) -> Bool {
        one.value.lastAt == other.value.lastAt
            ? one.key.isBefore(other.key) : one.value.lastAt > other.value.lastAt
    }
}

extension AttemptFilter {
    fileprivate func matches(_ attempt: KeptAttempt) -> Bool {
        let product = attempt.purchase?.productID
        if let productID, let product, product != productID { return false }
        if let date = attempt.purchase?.purchasedAt, date >= from, date < until { return true }
        return attempt.firstAt < until && attempt.lastAt >= from
    }
}
