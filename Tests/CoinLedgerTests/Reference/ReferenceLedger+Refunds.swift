/// The store's words on refunds.
extension ReferenceLedger {
    mutating func remember(_ word: Word, on purchase: String) -> String {
        if buyers[purchase] != nil { return "granted" }
        if let last = remembered[purchase] {
            if word.isSame(as: last) { return "known" }
            if !word.isLater(than: last) { return "older" }
        }
        remembered[purchase] = word
        return "done"
    }

    mutating func hear(
        _ word: Word, on purchase: String, _ policy: String, _ wish: Wish
    ) -> String {
        var before = 0
        if let last = words[purchase] {
            if word.isSame(as: last) { return "known" }
            if !word.isLater(than: last) { return "older" }
            before = last.percentage
        }
        if word.percentage == 0 || word.percentage < before {
            guard giveBack(purchase, wish) else { return "too large" }
            before = 0
        }
        words[purchase] = word
        take(word.percentage, beyond: before, of: purchase, policy, wish)
        return "done"
    }

    private mutating func giveBack(_ purchase: String, _ wish: Wish) -> Bool {
        let why = "refund \(purchase)"
        let taken = moved(why)
        guard hasRoom(for: taken.values.reduce(0) { $0 + $1.coins }, in: wish.purse) else {
            return false
        }
        for (number, sum) in taken { putBack(sum.coins, sum.money, into: number, why: why) }
        owed[purchase] = nil
        forgiven[purchase] = nil
        return true
    }

    private mutating func take(
        _ percentage: Int, beyond before: Int, of purchase: String, _ policy: String, _ wish: Wish
    ) {
        let reserved = reserved(at: wish.now)
        let own = bought[purchase] ?? []
        var missingPaid = 0
        for number in own {
            guard let parcel = parcels[number] else { continue }
            let asks = part(percentage, of: parcel.coins) - part(before, of: parcel.coins)
            let loose = max(0, (rest()[number] ?? 0) - (reserved[number] ?? 0))
            let takes = min(asks, loose)
            if takes > 0 { takeOut(takes, of: number, why: "refund \(purchase)") }
            if parcel.isPaid {
                missingPaid += asks - takes
            } else {
                forgiven[purchase, default: 0] += asks - takes
            }
        }
        if policy == "write_off" {
            forgiven[purchase, default: 0] += missingPaid
            return
        }
        if policy == "take_other_paid" {
            let others = choose(.max, of: wish.purse, at: wish.now) { number, _ in [number] }
            for other in others where parcels[other.parcel]?.isPaid == true {
                let takes = min(missingPaid, other.coins)
                guard takes > 0, !own.contains(other.parcel) else { continue }
                takeOut(takes, of: other.parcel, why: "refund \(purchase)")
                missingPaid -= takes
            }
        }
        owed[purchase, default: 0] += missingPaid
    }

    /// So many thousandths of a percent of coins, rounded half up, by parts that fit into 64 bits.
    private func part(_ percentage: Int, of coins: Int) -> Int {
        let (hundredThousands, rest) = (coins / 100_000, coins % 100_000)
        let small = rest * percentage
        return hundredThousands * percentage + small / 100_000
            + (small % 100_000 >= 50_000 ? 1 : 0)
    }
}
