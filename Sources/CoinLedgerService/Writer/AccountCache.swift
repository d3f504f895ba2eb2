import CoinLedger

/// Account states of the last batches, the least recently used forgotten first.
///
/// Two generations: what is used moves to the young one; when that is full, it becomes the old one
/// and the old one is forgotten. So between half of and all of `countMax` states are kept, at the
/// cost of a dictionary.
struct AccountCache {
    private let generationMax: Int
    private var young: [AccountID: Account] = [:]
    private var old: [AccountID: Account] = [:]

    init(countMax: Int) { generationMax = max(1, countMax / 2) }

    func contains(_ id: AccountID) -> Bool { young[id] != nil || old[id] != nil }

    subscript(id: AccountID) -> Account? {
        get { young[id] ?? old[id] }
        set {
            if young[id] == nil, young.count >= generationMax {
                old = young
                young.removeAll(keepingCapacity: true)
            }
            young[id] = newValue
        }
    }

    mutating func removeAll() {
        young.removeAll(keepingCapacity: true)
        old.removeAll()
    }
}
