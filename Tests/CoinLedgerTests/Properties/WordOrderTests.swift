import Base
import CoinLedger
import LedgerTestSupport
import Testing

/// What the store says of refunds, in whatever order it arrives and however often.
@Suite struct `The store's words on refunds` {
    private static let commandsBefore = 12

    @Test(arguments: Seeds.batches(of: 1000), ["debt", "write_off"])
    func `end alike in every order, and like the last ones alone`(
        seeds: Range<UInt64>, policy: String
    ) {
        var taken = 0
        for seed in seeds {
            var wishes = Wishes(seed, policy: policy)
            let start = Self.history(&wishes) { if case .word = $0 { false } else { true } }
            let words = Self.words(&wishes)
            let orders = [words, words.shuffled(using: &wishes.random), Self.last(of: words)]
            let ends = orders.map { Self.hear($0, start, wishes.now) }
            guard let end = ends[0], ends.allSatisfy({ Self.isAlike($0, end) }) else {
                Issue.record("COINLEDGER_HISTORY_SEED=\(seed): \(words)")
                return
            }
            if !Self.isAlike(end, start) { taken += 1 }
        }
        #expect(Seeds.only != nil || taken > seeds.count / 4)
    }

    @Test(arguments: Seeds.batches(of: 1000))
    func `on one purchase end alike in every order, by every policy`(seeds: Range<UInt64>) {
        for seed in seeds {
            var wishes = Wishes(seed)
            let policy = wishes.random.pick(ShortfallPolicy.allCases)
            let start = Self.history(&wishes) { if case .word = $0 { false } else { true } }
            guard let purchase = Self.purchase(of: start, &wishes.random) else { continue }
            let words = (0..<5).map { _ in
                Word(
                    purchase: purchase,
                    percentage: wishes.random.pick([0, 40_000, 67_932, 100_000]),
                    signed: Int64(wishes.random.number(0...3)), policy: policy)
            }
            let orders = [words, words.shuffled(using: &wishes.random), Self.last(of: words)]
            let ends = orders.map { Self.hear($0, start, wishes.now) }
            guard let end = ends[0], ends.allSatisfy({ Self.isAlike($0, end) }) else {
                Issue.record("COINLEDGER_HISTORY_SEED=\(seed): \(words)")
                return
            }
        }
    }

    /// Once coins of one purchase have paid for another, which lots are taken depends on the order,
    /// but never how much an account is worth.
    @Test(arguments: Seeds.batches(of: 1000))
    func `end in the same worth after whatever came before`(seeds: Range<UInt64>) {
        var count = 0
        for seed in seeds {
            var wishes = Wishes(seed)
            let start = Self.history(&wishes) { _ in true }
            let words = Self.words(&wishes)
            let orders = [words, words.shuffled(using: &wishes.random)]
            let ends = orders.compactMap { Self.hear($0, start, wishes.now) }
            guard ends.count == 2 else { continue }
            count += 1
            for environment in Environment.allCases {
                let purses = ends.map { $0.account[environment] }
                guard Self.worth(purses[0]) == Self.worth(purses[1]),
                    Self.heard(purses[0]) == Self.heard(purses[1]),
                    ends.allSatisfy({ Self.missed($0, environment) == nil })
                else {
                    Issue.record("COINLEDGER_HISTORY_SEED=\(seed): \(words)")
                    return
                }
            }
        }
        #expect(Seeds.only != nil || count > seeds.count / 2)
    }

    @Test(arguments: Seeds.batches(of: 1000))
    func `are as if never said once they are reversed`(seeds: Range<UInt64>) throws {
        var count = 0
        for seed in seeds {
            var wishes = Wishes(seed)
            let start = Self.history(&wishes) { _ in true }
            guard let key = Self.purchase(of: start, &wishes.random) else { continue }
            let purse = start.account[key.environment]
            guard purse.refunds[key]?.percentage ?? 0 == 0 else { continue }
            // New coins pay other debts otherwise than they would have without this one.
            let gift = purse.debt == .zero ? wishes.random.pick([nil, 30 as Coins]) : nil
            let time = Timestamp.noon(plus: Int64(wishes.now))
            let policy = wishes.random.pick(ShortfallPolicy.allCases)
            var plain = start
            var refunded = start
            do throws(Rejection) {
                for (percentage, signed) in [(40_000, 100), (100_000, 101)] as [(Int64, Int64)] {
                    try refunded.hear(
                        Word(
                            purchase: key, percentage: percentage, signed: signed, policy: policy),
                        at: time)
                }
                if let gift {
                    try plain.give(gift, in: key.environment, at: time)
                    try refunded.give(gift, in: key.environment, at: time)
                }
                try refunded.hear(
                    Word(purchase: key, percentage: 0, signed: 102, policy: policy), at: time)
            } catch {
                // Only where the limit of a balance is near.
                #expect(error == .balanceTooLarge, "COINLEDGER_HISTORY_SEED=\(seed)")
                continue
            }
            count += 1
            guard Self.isAlike(refunded, plain, but: key) else {
                Issue.record("COINLEDGER_HISTORY_SEED=\(seed): \(key)")
                return
            }
        }
        #expect(Seeds.only != nil || count > seeds.count / 4)
    }
}

/// One word of the store.
private struct Word {
    let purchase: PurchaseKey
    let percentage: Int64
    /// Milliseconds after noon.
    let signed: Int64
    let policy: ShortfallPolicy
}

extension History {
    fileprivate mutating func hear(_ word: Word, at time: Timestamp) throws(Rejection) {
        let notice = RefundNotice(
            purchase: word.purchase, lots: lots(of: word.purchase), percentage: word.percentage,
            signedAt: .noon(plus: word.signed), shortfallPolicy: word.policy)
        try carryOut(.refund(notice), at: time)
    }

    fileprivate mutating func give(
        _ coins: Coins, in environment: Environment, at time: Timestamp
    ) throws(Rejection) {
        let gift = Gift(
            environment: environment, coins: coins, expiresAt: nil, reason: "", campaignID: nil)
        try carryOut(.give(gift), at: time)
    }
}

extension `The store's words on refunds` {
    private static func history(
        _ wishes: inout Wishes, where isWanted: (Wish.What) -> Bool
    ) -> History {
        var trial = Trial()
        for _ in 0..<commandsBefore {
            let wish = wishes.next()
            guard isWanted(wish.what) else { continue }
            let (verdict, _) = trial.judge(wish)
            wishes.learn(wish, wasDone: verdict == "done")
        }
        return trial.history
    }

    /// Some of several purchases, and some of these twice.
    private static func words(_ wishes: inout Wishes) -> [Word] {
        var words: [Word] = []
        for _ in 0..<wishes.random.number(2...8) {
            let environment: Environment = wishes.random.isOneOf(5) ? .sandbox : .production
            guard
                case .word(let id, let percentage, let signed, let policy) = wishes.word(
                    in: environment.rawValue)
            else { continue }
            words.append(
                Word(
                    purchase: .appStore(TransactionID(stringLiteral: id), environment),
                    percentage: Int64(percentage), signed: Int64(signed),
                    policy: ShortfallPolicy(rawValue: policy) ?? .debt))
        }
        return words + words.filter { _ in wishes.random.isOneOf(3) }
    }

    /// The one of each purchase that was signed last; of one instant, a reversal or the largest.
    private static func last(of words: [Word]) -> [Word] {
        var last: [PurchaseKey: Word] = [:]
        for word in words {
            let rank = (word.signed, word.percentage == 0 ? 1_000_000 : word.percentage)
            if let known = last[word.purchase] {
                let best = (known.signed, known.percentage == 0 ? 1_000_000 : known.percentage)
                if rank < best { continue }
            }
            last[word.purchase] = word
        }
        return Array(last.values)
    }

    /// Nil if the limit of a balance came in between.
    private static func hear(_ words: [Word], _ start: History, _ now: Int) -> History? {
        var history = start
        for word in words {
            do throws(Rejection) {
                try history.hear(word, at: .noon(plus: Int64(now)))
            } catch .balanceTooLarge {
                return nil
            } catch {
                // Older, or known.
                continue
            }
        }
        return history
    }

    private static func purchase(
        of history: History, _ random: inout SeededRandom
    ) -> PurchaseKey? {
        let all = history.log.compactMap { entry -> PurchaseKey? in
            guard case .purchaseRecorded(let recorded) = entry.event else { return nil }
            return recorded.purchase.key
        }
        return all.isEmpty ? nil : random.pick(all)
    }

    private static func isAlike(_ one: History?, _ other: History) -> Bool {
        guard let one else { return false }
        return one.account.production == other.account.production
            && one.account.sandbox == other.account.sandbox
            && one.account.lotCount == other.account.lotCount
    }

    /// The same, whatever is known of refunds of that purchase.
    private static func isAlike(_ one: History, _ other: History, but key: PurchaseKey) -> Bool {
        let purses = [one, other].map { $0.account[key.environment] }
        let refunds = purses.map { purse in
            purse.refunds.filter { $0.key != key }
        }
        let left = purses[0].refunds[key]
        return purses[0].openLots == purses[1].openLots && purses[0].holds == purses[1].holds
            && refunds[0] == refunds[1] && left?.taken == [] && left?.debt == .zero
            && left?.writtenOff == .zero
    }

    /// Coins less what is owed and what was given up.
    private static func worth(_ purse: Purse) -> Int64 {
        let coins = purse.openLots.map(\.remaining.amount).reduce(0, +)
        return purse.refunds.values.reduce(coins) {
            $0 - $1.debt.amount - $1.writtenOff.amount
        }
    }

    private static func heard(_ purse: Purse) -> [PurchaseKey: [Int64]] {
        purse.refunds.mapValues { [$0.signedAt?.milliseconds ?? 0, $0.percentage] }
    }

    /// A purchase of which something else than its part was taken, owed and given up.
    private static func missed(_ history: History, _ environment: Environment) -> PurchaseKey? {
        history.account[environment].refunds.first { key, refund in
            let part = history.lots(of: key).map { lot in
                (lot.coins.amount / 100_000) * refund.percentage
                    + ((lot.coins.amount % 100_000) * refund.percentage + 50_000) / 100_000
            }.reduce(0, +)
            let taken = refund.taken.map(\.coins.amount).reduce(0, +)
            return taken + refund.debt.amount + refund.writtenOff.amount != part
        }?.key
    }
}
