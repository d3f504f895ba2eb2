import CoinLedger

/// Account states of the last batches, the least recently used forgotten first.
///
/// Two generations: what is used moves to the young one; when that is full, it becomes the old one
/// and the old one is forgotten. So between half of and all of `weightMax` is kept, at the cost of a
/// dictionary.
struct AccountCache {
    private let generationMax: Int
    private var young: [AccountID: Account] = [:]
    private var old: [AccountID: Account] = [:]
    private var youngWeight = 0

    /// Open lots that weigh as much as an account without any.
    private static let lotsPerWeight = 4

    init(weightMax: Int) { generationMax = max(1, weightMax / 2) }

    subscript(id: AccountID) -> Account? { young[id] ?? old[id] }

    /// Hands a state over, so that it can be changed in place; nil if it isn't known.
    mutating func take(_ id: AccountID) -> Account? {
        if let account = young.removeValue(forKey: id) {
            youngWeight -= weight(account)
            return account
        }
        return old.removeValue(forKey: id)
    }

    mutating func put(_ id: AccountID, _ account: Account) {
        if youngWeight >= generationMax {
            old = young
            young.removeAll(keepingCapacity: true)
            youngWeight = 0
        }
        youngWeight += weight(account)
        if let replaced = young.updateValue(account, forKey: id) { youngWeight -= weight(replaced) }
    }

    mutating func removeAll() {
        young.removeAll(keepingCapacity: true)
        old.removeAll()
        youngWeight = 0
    }

    private func weight(_ account: Account) -> Int {
        let lots = account.production.openLotCount + account.sandbox.openLotCount
        return 1 + lots / AccountCache.lotsPerWeight
    }
}
