/// The rules of coins once more, as plain as can be, for comparison. It shares nothing with the
/// code it judges: coins and instants are plain numbers, names are texts. It never keeps what is
/// left of a parcel of coins, but a journal of all movements, which it adds up for every question.
struct ReferenceLedger {
    struct Parcel {
        let purse: String
        let isPaid: Bool
        let coins: Int
        let end: Int?
        let price: Int?
    }

    /// Coins and money into a parcel, out of it if negative.
    struct Movement {
        let parcel: Int
        let coins: Int
        let money: Int
        let why: String
    }

    struct Reservation {
        let purse: String
        let coins: Int
        let end: Int
        let parts: [Int: Int]
        /// The order in which parcels were reserved.
        let order: [Int]
    }

    struct Word {
        let signed: Int
        let percentage: Int

        func isLater(than other: Word) -> Bool {
            if signed != other.signed { return signed > other.signed }
            if percentage == other.percentage || other.percentage == 0 { return false }
            return percentage == 0 || percentage > other.percentage
        }

        func isSame(as other: Word) -> Bool {
            signed == other.signed && percentage == other.percentage
        }
    }

    static let most = 9_007_199_254_740_991

    var parcels: [Int: Parcel] = [:]
    var journal: [Movement] = []
    /// By the number of the wish.
    var holds: [Int: Reservation] = [:]
    /// Everything about purchases is named by purse and id.
    var words: [String: Word] = [:]
    var owed: [String: Int] = [:]
    var forgiven: [String: Int] = [:]
    var remembered: [String: Word] = [:]
    /// The parcels of each purchase.
    var bought: [String: [Int]] = [:]
    /// What was last said of the store's being told; nil for nothing.
    var consent: Bool?
    /// The number of the wish that bought it; 0 for somebody else's.
    var buyers: [String: Int]
    /// The account is `me`.
    var owners: [String: String]
    var undone: Set<Int> = []

    init(buyers: [String: Int], owners: [String: String]) {
        self.buyers = buyers
        self.owners = owners
    }

    /// What is left of each parcel.
    func rest() -> [Int: Int] {
        var rest: [Int: Int] = [:]
        for (number, parcel) in parcels { rest[number] = parcel.coins }
        for movement in journal { rest[movement.parcel, default: 0] += movement.coins }
        return rest
    }

    func moneyOut(of parcel: Int) -> Int {
        var out = 0
        for movement in journal where movement.parcel == parcel { out -= movement.money }
        return out
    }

    /// What was moved out of parcels for one reason and not back, by parcel.
    func moved(_ why: String) -> [Int: (coins: Int, money: Int)] {
        var sums: [Int: (coins: Int, money: Int)] = [:]
        for movement in journal where movement.why == why {
            let sum = sums[movement.parcel] ?? (0, 0)
            sums[movement.parcel] = (sum.coins - movement.coins, sum.money - movement.money)
        }
        return sums.filter { $0.value.coins != 0 }
    }

    func reserved(at now: Int) -> [Int: Int] {
        var reserved: [Int: Int] = [:]
        for hold in holds.values where hold.end > now {
            for (parcel, coins) in hold.parts { reserved[parcel, default: 0] += coins }
        }
        return reserved
    }

    func isOver(_ parcel: Int, at now: Int) -> Bool {
        guard let end = parcels[parcel]?.end else { return false }
        return end <= now
    }

    func debt(of purse: String) -> Int {
        var sum = 0
        for (purchase, coins) in owed where purchase.hasPrefix(purse) { sum += coins }
        return min(sum, ReferenceLedger.most)
    }

    func hasRoom(for coins: Int, in purse: String) -> Bool {
        var sum = coins
        for (number, coins) in rest() where parcels[number]?.purse == purse { sum += coins }
        return sum <= ReferenceLedger.most
    }

    /// Paid, free, held, owed, and the next end if there is one.
    func balance(of purse: String, at now: Int) -> [Int?] {
        var (paid, free, held) = (0, 0, 0)
        var next: Int?
        let reserved = reserved(at: now)
        for (number, rest) in rest() {
            guard rest > 0, let parcel = parcels[number], parcel.purse == purse else { continue }
            var counts = rest
            if isOver(number, at: now) {
                counts = min(rest, reserved[number] ?? 0)
            } else if let end = parcel.end {
                next = min(next ?? end, end)
            }
            if parcel.isPaid { paid += counts } else { free += counts }
        }
        for hold in holds.values where hold.end > now && hold.purse == purse { held += hold.coins }
        return [paid, free, min(held, ReferenceLedger.most), debt(of: purse), next]
    }
}

/// Movements.
extension ReferenceLedger {
    mutating func open(
        _ purse: String, isPaid: Bool, _ coins: Int, end: Int?, price: Int?
    ) -> Int {
        let number = parcels.count + 1
        parcels[number] = Parcel(
            purse: purse, isPaid: isPaid, coins: coins, end: end, price: price)
        return number
    }

    /// Money leaves by how many coins of the parcel are out afterwards, in proportion, rounded
    /// down; as far as it isn't out already.
    mutating func takeOut(_ coins: Int, of number: Int, why: String) {
        guard let parcel = parcels[number] else { return }
        var money = 0
        if let price = parcel.price {
            let out = parcel.coins - (rest()[number] ?? 0) + coins
            let due = Int(Int128(price) * Int128(out) / Int128(parcel.coins))
            money = max(0, due - moneyOut(of: number))
        }
        journal.append(Movement(parcel: number, coins: -coins, money: -money, why: why))
    }

    mutating func putBack(_ coins: Int, _ money: Int, into number: Int, why: String) {
        journal.append(Movement(parcel: number, coins: coins, money: money, why: why))
    }

    /// Which parcels give how much, one after the other: each time the best of those that are left.
    func choose(
        _ coins: Int, of purse: String, at now: Int, best: (Int, [Int]) -> [Int]
    ) -> [(parcel: Int, coins: Int)] {
        let reserved = reserved(at: now)
        var loose: [Int: Int] = [:]
        for (number, rest) in rest() where parcels[number]?.purse == purse {
            let coins = rest - (reserved[number] ?? 0)
            if coins > 0 && !isOver(number, at: now) { loose[number] = coins }
        }
        let all = Array(loose.keys)
        var ranks: [Int: [Int]] = [:]
        for number in all { ranks[number] = best(number, all) }
        var chosen: [(parcel: Int, coins: Int)] = []
        var missing = coins
        while missing > 0 {
            let first = loose.keys.min { one, other in
                (ranks[one] ?? []).lexicographicallyPrecedes(ranks[other] ?? [])
            }
            guard let first, let coins = loose.removeValue(forKey: first) else { break }
            chosen.append((first, min(coins, missing)))
            missing -= min(coins, missing)
        }
        return chosen
    }

    /// The rank of a parcel among others: the lowest goes first.
    func rank(_ number: Int, among others: [Int], by order: String) -> [Int] {
        guard let parcel = parcels[number] else { return [] }
        let end = parcel.end ?? .max
        switch order {
        case "free_first": return parcel.isPaid ? [1, number] : [0, end, number]
        case "paid_first": return parcel.isPaid ? [0, number] : [1, end, number]
        case "earliest_expiry_first": return [end, number]
        default:
            let dearer = others.count { other in
                guard let rival = parcels[other] else { return false }
                return Int128(rival.price ?? 0) * Int128(parcel.coins)
                    > Int128(parcel.price ?? 0) * Int128(rival.coins)
            }
            return [dearer, parcel.isPaid ? 0 : 1, end, number]
        }
    }
}
