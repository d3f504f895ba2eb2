import Base
import LedgerTestSupport

/// What people wish: few purchases, small amounts, a clock that mostly stands still, so that wishes
/// meet; now and then amounts at the limit and a clock that runs back.
struct Wishes {
    static let tokens = [
        "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002",
        "00000000-0000-4000-8000-000000000003",
    ]
    /// The first two tokens are somebody else's and nobody's; `X` was bought by somebody else.
    static let buyers = ["Production X": 0, "Sandbox X": 0]
    static let owners = [tokens[0]: "you"]

    var random: SeededRandom
    private let isRich: Bool
    private(set) var now = 0
    private var number = 0
    private var purchases: [String] = ["X"]
    /// Those that were granted, by purse.
    private var granted: [String: [String]] = [:]
    private var buys: [Wish] = []
    private var spends: [Int] = []
    private var holds: [Int] = []
    /// The refunds' policy; nil for any.
    private let policy: String?

    init(_ seed: UInt64, policy: String? = nil) {
        random = SeededRandom(seed: seed)
        isRich = random.isOneOf(8)
        self.policy = policy
    }

    mutating func next() -> Wish {
        passTime()
        if random.isOneOf(30), let buy = buys.last {
            // Heard twice.
            return Wish(number: buy.number, purse: buy.purse, now: now, what: buy.what)
        }
        number += 1
        let purse = random.isOneOf(6) ? "Sandbox" : "Production"
        let wish = Wish(number: number, purse: purse, now: now, what: what(in: purse))
        if case .buy = wish.what { buys.append(wish) }
        return wish
    }

    /// What came of a wish decides what can be wished next.
    mutating func learn(_ wish: Wish, wasDone: Bool) {
        guard wasDone else { return }
        switch wish.what {
        case .spend, .capture: spends.append(wish.number)
        case .hold: holds.append(wish.number)
        case .buy(let order): granted[wish.purse, default: []].append(order.id)
        case .link, .give, .add, .remove, .undo, .release, .expire, .word, .remember, .consent:
            break
        }
    }

    /// The store's word on a purchase that was granted, or one to be remembered if none was.
    mutating func word(in purse: String) -> Wish.What {
        guard let granted = granted[purse] else {
            return remember(random.pick(purchases))
        }
        return .word(
            id: random.pick(granted), percentage: percentage(), signed: random.number(0...5),
            policy: policy ?? random.pick(["debt", "take_other_paid", "write_off"]))
    }

    private mutating func passTime() {
        now += random.pick([0, 0, 0, 1, 999, 1000, 60_000])
        if random.isOneOf(25) { now -= random.pick([1, 1500, 61_000]) }
    }

    private mutating func what(in purse: String) -> Wish.What {
        switch random.number(1...100) {
        case 1...3: return .link(token: random.pick(Wishes.tokens))
        case 4...22: return buy()
        case 23...30: return .give(coins: amount(), end: end())
        case 31...33: return .add(coins: amount(), end: end())
        case 34...37: return .remove(coins: random.number(1...20))
        case 38...54: return .spend(coins: amount(), order: order())
        case 55...60: return .undo(spend: spends.isEmpty ? 0 : random.pick(spends))
        case 61...68:
            return .hold(
                coins: random.number(1...40), order: order(),
                end: now + random.pick([1, 1000, 61_000, 200_000]))
        case 69...73:
            return .capture(
                hold: holds.isEmpty ? 0 : random.pick(holds),
                coins: random.isOneOf(2) ? random.number(1...40) : nil)
        case 74...75: return .release(hold: holds.isEmpty ? 0 : random.pick(holds))
        case 76...79: return .expire
        case 80...96: return word(in: purse)
        case 97: return .consent(isGiven: random.isOneOf(2))
        default: return remember(random.isOneOf(2) ? newPurchase() : random.pick(purchases))
        }
    }

    private mutating func remember(_ id: String) -> Wish.What {
        .remember(id: id, percentage: percentage(), signed: random.number(0...5))
    }

    private mutating func buy() -> Wish.What {
        let id = random.isOneOf(4) ? random.pick(purchases) : newPurchase()
        let original = random.isOneOf(10) ? random.pick(purchases) : id
        let paid = random.isOneOf(12) ? 0 : amount()
        return .buy(
            Wish.Order(
                id: id, original: original, paid: paid,
                free: paid == 0 || random.isOneOf(3) ? random.number(1...30) : 0,
                end: end(), price: random.pick([nil, 0, 1, 160, 990, 1_000_000, Int.max]),
                token: random.isOneOf(8) ? random.pick(Wishes.tokens) : nil))
    }

    private mutating func newPurchase() -> String {
        purchases.append("T\(purchases.count)")
        return purchases[purchases.count - 1]
    }

    private mutating func amount() -> Int {
        if isRich && random.isOneOf(4) {
            return ReferenceLedger.most - random.pick([0, 1, 50, 4_503_599_627_370_496])
        }
        return random.pick([random.number(1...10), random.number(1...120), 100])
    }

    private mutating func percentage() -> Int {
        random.pick([0, 0, 100_000, 100_000, 50_000, 33_333, 67_932, random.number(1...99_999)])
    }

    private mutating func end() -> Int? {
        random.isOneOf(3) ? nil : now + random.pick([1, 1000, 2000, 61_000, 300_000])
    }

    private mutating func order() -> String {
        random.pick([
            "free_first", "free_first", "earliest_expiry_first", "paid_first",
            "highest_unit_price_first",
        ])
    }
}
