/// What becomes of a wish: `done`, or why not.
extension ReferenceLedger {
    mutating func judge(_ wish: Wish) -> String {
        switch wish.what {
        case .link(let token): return link(token)
        case .buy(let order): return buy(order, wish)
        case .give(let coins, let end), .add(let coins, let end): return receive(coins, end, wish)
        case .remove(let coins): return remove(coins, wish)
        case .spend(let coins, let order): return spend(coins, order, wish)
        case .undo(let spend): return undo(spend, at: wish.now)
        case .hold(let coins, let order, let end): return hold(coins, order, end, wish)
        case .capture(let hold, let coins): return capture(hold, coins, wish)
        case .release(let hold):
            guard let reservation = holds[hold] else { return "no hold" }
            if reservation.end <= wish.now { return "hold is over" }
            holds[hold] = nil
            return "done"
        case .expire: return expire(wish)
        case .word(let id, let percentage, let signed, let policy):
            let word = Word(signed: signed, percentage: percentage)
            return hear(word, on: "\(wish.purse) \(id)", policy, wish)
        case .remember(let id, let percentage, let signed):
            let word = Word(signed: signed, percentage: percentage)
            return remember(word, on: "\(wish.purse) \(id)")
        case .consent(let isGiven):
            if consent == isGiven { return "said before" }
            consent = isGiven
            return "done"
        }
    }

    private mutating func link(_ token: String) -> String {
        if let owner = owners[token] { return owner == "me" ? "linked" : "linked elsewhere" }
        owners[token] = "me"
        return "done"
    }

    private mutating func buy(_ order: Wish.Order, _ wish: Wish) -> String {
        let names = [order.id, order.original].map { "\(wish.purse) \($0)" }
        for name in names {
            guard let buyer = buyers[name] else { continue }
            if buyer == 0 { return "elsewhere" }
            return buyer == wish.number ? "done before" : "bought"
        }
        let heard = names.compactMap { remembered[$0] }
        if heard.contains(where: { $0.percentage != 0 }) { return "refunded" }
        if let token = order.token, owners[token] != "me" { return "foreign" }
        guard hasRoom(for: order.paid + order.free, in: wish.purse) else { return "too large" }
        var opened: [Int] = []
        if order.paid > 0 {
            opened.append(
                open(wish.purse, isPaid: true, order.paid, end: nil, price: order.price))
        }
        if order.free > 0 {
            opened.append(
                open(wish.purse, isPaid: false, order.free, end: order.end, price: nil))
        }
        bought[names[0]] = opened
        for name in names {
            buyers[name] = wish.number
            remembered[name] = nil
        }
        payDebts(of: wish.purse, with: opened)
        if let signed = heard.map(\.signed).max() {
            words[names[0]] = Word(signed: signed, percentage: 0)
        }
        return "done"
    }

    private mutating func receive(_ coins: Int, _ end: Int?, _ wish: Wish) -> String {
        guard hasRoom(for: coins, in: wish.purse) else { return "too large" }
        let number = open(wish.purse, isPaid: false, coins, end: end, price: nil)
        payDebts(of: wish.purse, with: [number])
        return "done"
    }

    /// One coin's worth after the other would say the same, only more slowly.
    private mutating func payDebts(of purse: String, with opened: [Int]) {
        let debtors = owed.filter { $0.key.hasPrefix(purse) && $0.value > 0 }.keys.sorted {
            let dates = [words[$0]?.signed ?? 0, words[$1]?.signed ?? 0]
            return dates[0] == dates[1] ? $0 < $1 : dates[0] < dates[1]
        }
        for debtor in debtors {
            for number in opened {
                let pays = min(owed[debtor] ?? 0, rest()[number] ?? 0)
                guard pays > 0 else { continue }
                takeOut(pays, of: number, why: "refund \(debtor)")
                owed[debtor, default: 0] -= pays
            }
        }
    }

    private mutating func remove(_ coins: Int, _ wish: Wish) -> String {
        let chosen = choose(coins, of: wish.purse, at: wish.now) { number, others in
            rank(number, among: others, by: "free_first")
        }.filter { parcels[$0.parcel]?.isPaid == false }
        let found = chosen.reduce(0) { $0 + $1.coins }
        if found < coins { return "needs \(coins) of \(found)" }
        for part in chosen { takeOut(part.coins, of: part.parcel, why: "support") }
        return "done"
    }

    private mutating func spend(_ coins: Int, _ order: String, _ wish: Wish) -> String {
        if debt(of: wish.purse) > 0 { return "owes \(debt(of: wish.purse))" }
        let chosen = choose(coins, of: wish.purse, at: wish.now) { number, others in
            rank(number, among: others, by: order)
        }
        let found = chosen.reduce(0) { $0 + $1.coins }
        if found < coins { return "needs \(coins) of \(found)" }
        for part in chosen { takeOut(part.coins, of: part.parcel, why: "spend \(wish.number)") }
        return "done"
    }

    private mutating func undo(_ spend: Int, at now: Int) -> String {
        if undone.contains(spend) { return "undone" }
        let back = moved("spend \(spend)").filter { !isOver($0.key, at: now) }
        let coins = back.values.reduce(0) { $0 + $1.coins }
        let purse = back.keys.first.flatMap { parcels[$0]?.purse } ?? ""
        guard hasRoom(for: coins, in: purse) else { return "too large" }
        for (number, sum) in back {
            putBack(sum.coins, sum.money, into: number, why: "spend \(spend)")
        }
        undone.insert(spend)
        return "done"
    }

    private mutating func hold(_ coins: Int, _ order: String, _ end: Int, _ wish: Wish) -> String {
        if debt(of: wish.purse) > 0 { return "owes \(debt(of: wish.purse))" }
        let chosen = choose(coins, of: wish.purse, at: wish.now) { number, others in
            rank(number, among: others, by: order)
        }
        let found = chosen.reduce(0) { $0 + $1.coins }
        if found < coins { return "needs \(coins) of \(found)" }
        // Those that are over are forgotten.
        holds = holds.filter { $0.value.purse != wish.purse || $0.value.end > wish.now }
        var parts: [Int: Int] = [:]
        for part in chosen { parts[part.parcel] = part.coins }
        holds[wish.number] = Reservation(
            purse: wish.purse, coins: coins, end: end, parts: parts, order: chosen.map(\.parcel))
        return "done"
    }

    private mutating func capture(_ hold: Int, _ coins: Int?, _ wish: Wish) -> String {
        guard let reservation = holds[hold] else { return "no hold" }
        if reservation.end <= wish.now { return "hold is over" }
        let coins = coins ?? reservation.coins
        if coins > reservation.coins { return "holds \(reservation.coins)" }
        let rest = rest()
        var chosen: [Int: Int] = [:]
        var found = 0
        for number in reservation.order {
            let takes = min(
                coins - found, min(reservation.parts[number] ?? 0, rest[number] ?? 0))
            chosen[number] = takes
            found += takes
        }
        if found < coins { return "needs \(coins) of \(found)" }
        for (number, coins) in chosen where coins > 0 {
            takeOut(coins, of: number, why: "spend \(wish.number)")
        }
        holds[hold] = nil
        return "done"
    }

    private mutating func expire(_ wish: Wish) -> String {
        let reserved = reserved(at: wish.now)
        var verdict = "nothing expired"
        for (number, rest) in rest() where isOver(number, at: wish.now) {
            let coins = rest - (reserved[number] ?? 0)
            guard coins > 0 else { continue }
            takeOut(coins, of: number, why: "time")
            verdict = "done"
        }
        return verdict
    }
}
