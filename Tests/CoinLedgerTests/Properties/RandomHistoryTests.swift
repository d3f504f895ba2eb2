import Base
import CoinLedger
import LedgerTestSupport
import Testing

/// Random histories of all commands, judged by an independent reference after each of them.
@Suite struct `An account with a random history` {
    private static let commandsPerHistory = 20

    @Test(arguments: Seeds.batches(of: 5000))
    func `agrees with the reference`(seeds: Range<UInt64>) throws {
        var seen: [String: Int] = [:]
        for seed in seeds {
            guard let fault = try Self.firstFault(seed, &seen) else { continue }
            Issue.record("COINLEDGER_HISTORY_SEED=\(seed): \(fault)")
            return
        }
        // A run that never meets one of them tests nothing.
        for verdict in Self.verdicts where Seeds.only == nil {
            #expect(seen[verdict, default: 0] > 0, "\(seeds) never meet \(verdict)")
        }
    }

    private static let verdicts = [
        "done", "bought", "done before", "elsewhere", "foreign", "refunded", "linked",
        "linked elsewhere", "too large", "needs", "owes", "undone", "no hold", "hold is over",
        "holds", "nothing expired", "older", "known", "granted",
    ]

    private static func firstFault(_ seed: UInt64, _ seen: inout [String: Int]) throws -> String? {
        var wishes = Wishes(seed)
        var trial = Trial()
        var reference = ReferenceLedger(buyers: Wishes.buyers, owners: Wishes.owners)
        for _ in 0..<commandsPerHistory {
            let wish = wishes.next()
            let expected = reference.judge(wish)
            let (verdict, events) = trial.judge(wish)
            guard verdict == expected else { return "\(wish): \(verdict) for \(expected)" }
            seen[String(verdict.prefix { !$0.isNumber }).trimmed, default: 0] += 1
            let state = (trial.snapshot(at: wish.now), reference.snapshot(at: wish.now))
            guard state.0 == state.1 else { return "\(wish): \(state.0) for \(state.1)" }
            if let event = events.first(where: { !isSound($0) }) { return "\(wish): \(event)" }
            if let fault = soundness(of: trial.history.account) { return "\(wish): \(fault)" }
            wishes.learn(wish, wasDone: verdict == "done")
        }
        return rebuilt(trial.history, &wishes.random) ?? flowedWrongly(trial.history)
    }

    /// Whether its slices sum to its coins and none is empty or worth less than nothing.
    private static func isSound(_ event: Event) -> Bool {
        switch event {
        case .coinsSpent(let spent):
            isSound(spent.slices) && spent.slices.map(\.coins).sum() == spent.coins
        case .coinsHeld(let held):
            held.slices.map(\.coins).sum() == held.coins
                && held.slices.allSatisfy { $0.coins > .zero }
                && Set(held.slices.map(\.lot)).count == held.slices.count
        case .coinsExpired(let expired): isSound(expired.slices) && !expired.slices.isEmpty
        case .coinsAdjusted(let adjusted):
            switch adjusted.change {
            case .added: true
            case .removed(let slices): isSound(slices)
            }
        case .spendReversed(let reversed):
            isSound(reversed.returned.map(\.slice) + reversed.lapsed)
        case .purchaseRefunded(let refunded): isSound(refunded.taken.map(\.slice))
        case .refundReversed(let reversed): isSound(reversed.returned.map(\.slice))
        case .debtPaid(let paid): isSound(paid.taken.map(\.slice)) && !paid.taken.isEmpty
        case .coinsGranted(let granted):
            !granted.lots.isEmpty && granted.lots.allSatisfy { $0.coins > .zero }
        case .purchaseRecorded, .appAccountTokenLinked, .holdReleased, .refundRemembered,
            .consentRecorded, .orderRecorded:
            true
        }
    }

    private static func isSound(_ slices: [Slice]) -> Bool {
        slices.allSatisfy { $0.coins > .zero && ($0.value?.milliunits ?? 0) >= 0 }
            && Set(slices.map(\.lot)).count == slices.count
    }

    /// What is wrong with the lots of an account; nil if nothing is.
    private static func soundness(of account: Account) -> String? {
        for environment in Environment.allCases {
            let purse = account[environment]
            for open in purse.openLots {
                let prices = 0...(open.lot.price?.milliunits ?? 0)
                guard open.remaining > .zero, open.remaining <= open.lot.coins,
                    prices.contains(open.valueOut)
                else { return "\(open)" }
            }
            let byKind = purse.openLots.map { $0.slice.coins }
            guard purse.paid == byKind.map(\.paid).sum(), purse.free == byKind.map(\.free).sum()
            else { return "\(purse.paid) and \(purse.free) of \(purse.openLots)" }
        }
        return nil
    }

    /// Whether the account is the same folded from its log, and built from its parts in any order.
    private static func rebuilt(_ history: History, _ random: inout SeededRandom) -> String? {
        var folded = Account.new
        for entry in history.log { folded.evolve(entry.event, id: entry.id) }
        guard folded == history.account else { return "folded: \(folded)" }
        let parts = Environment.allCases.map { environment in
            let purse = history.account[environment]
            return Purse(
                openLots: purse.openLots.shuffled(using: &random), holds: purse.holds,
                refunds: purse.refunds)
        }
        let built = Account(
            version: history.account.version, production: parts[0], sandbox: parts[1],
            lotCount: history.account.lotCount, consent: history.account.consent)
        guard built == history.account, built.hashValue == history.account.hashValue else {
            return "built: \(built)"
        }
        return nil
    }

    /// A lot of which the whole price hasn't left though all its coins have; nil if there is none.
    private static func flowedWrongly(_ history: History) -> String? {
        var coins: [Int64: Int64] = [:]
        var values: [Int64: Int64] = [:]
        func move(_ slice: Slice, _ sign: Int64) {
            coins[slice.lot, default: 0] += sign * slice.coins.amount
            values[slice.lot, default: 0] += sign * (slice.value?.milliunits ?? 0)
        }
        for entry in history.log {
            for slice in entry.event.taken { move(slice, 1) }
            for slice in entry.event.returned { move(slice.slice, -1) }
        }
        for lot in history.facts.lots.values where coins[lot.number] == lot.coins.amount {
            let price = lot.price?.milliunits ?? 0
            guard values[lot.number] == price else { return "\(lot): \(values)" }
        }
        return nil
    }
}

extension OpenLot {
    fileprivate var slice: [Slice] {
        [Slice(lot: lot.number, kind: lot.kind, coins: remaining, value: nil)]
    }
}

extension Event {
    /// What it takes out of lots.
    fileprivate var taken: [Slice] {
        switch self {
        case .coinsSpent(let spent): spent.slices
        case .coinsExpired(let expired): expired.slices
        case .coinsAdjusted(let adjusted):
            switch adjusted.change {
            case .added: []
            case .removed(let slices): slices
            }
        case .purchaseRefunded(let refunded): refunded.taken.map(\.slice)
        case .debtPaid(let paid): paid.taken.map(\.slice)
        case .purchaseRecorded, .coinsGranted, .appAccountTokenLinked, .spendReversed, .coinsHeld,
            .holdReleased, .refundReversed, .refundRemembered, .consentRecorded, .orderRecorded:
            []
        }
    }

    /// What it gives back to lots.
    fileprivate var returned: [ReturnedSlice] {
        switch self {
        case .spendReversed(let reversed): reversed.returned
        case .refundReversed(let reversed): reversed.returned
        case .purchaseRecorded, .coinsGranted, .appAccountTokenLinked, .coinsSpent, .coinsExpired,
            .coinsAdjusted, .coinsHeld, .holdReleased, .purchaseRefunded, .debtPaid,
            .refundRemembered, .consentRecorded, .orderRecorded:
            []
        }
    }
}

extension String {
    fileprivate var trimmed: String { last == " " ? String(dropLast()) : self }
}
