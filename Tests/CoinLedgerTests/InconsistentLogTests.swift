import Base
import CoinLedger
import LedgerTestSupport
import Testing

/// Whatever a log says, folding it and deciding on what comes of it never stops the process.
@Suite struct `A log that no decision could have written` {
    private static let most: Coins = 9_007_199_254_740_991
    private static let key = PurchaseKey.appStore("T1")
    private static let value = StatedPrice(milliunits: .max, currency: "USD")

    private static let lots: [Lot] = [
        .paid(1, most, price: .max), .paid(1, 5, price: .min), .free(1, 0),
        .free(.max, most, until: .noon), .paid(.min, 0, price: .max), .free(-1, 7),
        .paid(.max, 3, price: nil, until: .noon(plus: 1)),
    ]

    private static let slices: [Slice] =
        lots.map {
            Slice(lot: $0.number, kind: $0.kind, coins: most, value: value)
        } + [.paid(99, 5), .free(0, 0), .free(1, 5), .paid(1, 2)]

    private static let returned: [ReturnedSlice] = lots.flatMap { lot in
        [
            ReturnedSlice(lot: lot, coins: most, value: value),
            ReturnedSlice(lot: lot, coins: 1, value: nil),
        ]
    }

    private static func event(_ random: inout SeededRandom) -> Event {
        let hold = EventID(lane: 0, position: Int64(random.number(1...9)))
        let some = random.pick(slices)
        let back = [random.pick(returned), random.pick(returned)]
        let coins: Coins = random.pick([0, 1, 5, most])
        let percentage = random.pick([0, 1, 100_000, -1, .max, .min] as [Int64])
        let time = random.pick([Timestamp.noon, .noon(plus: 1), .noon(plus: -5)])
        switch random.number(0...9) {
        case 0:
            return .coinsGranted(
                CoinsGranted(
                    environment: .production, source: .purchase(key), lots: [random.pick(lots)]))
        case 1:
            return .coinsSpent(
                CoinsSpent(
                    environment: .production, coins: coins, purpose: .stamp,
                    hold: random.isOneOf(2) ? hold : nil, order: .freeFirst, policyVersion: "7",
                    slices: [some, some]))
        case 2:
            return .spendReversed(
                SpendReversed(
                    environment: .production, spend: hold, reason: "", returned: back,
                    lapsed: [some]))
        case 3: return .coinsExpired(CoinsExpired(environment: .production, slices: [some]))
        case 4:
            return .coinsAdjusted(
                CoinsAdjusted(
                    environment: .production,
                    change: random.isOneOf(2) ? .removed([some]) : .added(random.pick(lots)),
                    reason: "", ticketID: ""))
        case 5:
            return .coinsHeld(
                CoinsHeld(
                    environment: .production, coins: coins, purpose: .stamp, heldAt: .noon,
                    expiresAt: time, order: .freeFirst, policyVersion: "7",
                    slices: [HeldSlice(lot: some.lot, coins: most), HeldSlice(lot: 1, coins: most)])
            )
        case 6: return .holdReleased(HoldReleased(environment: .production, hold: hold))
        case 7:
            return .purchaseRefunded(
                PurchaseRefunded(
                    purchase: key, percentage: percentage, signedAt: time, shortfallPolicy: .debt,
                    taken: back, debt: coins, writtenOff: coins))
        case 8:
            return .refundReversed(
                RefundReversed(
                    purchase: key, signedAt: time, returned: back, debtCleared: coins))
        default: return .debtPaid(DebtPaid(purchase: key, taken: back))
        }
    }

    private static let actions: [Command.Action] = {
        let spends = ConsumptionOrder.allCases.flatMap { order in
            [5, most].map { (coins: Coins) in
                Command.Action.spend(
                    Spend(
                        environment: .production, coins: coins, purpose: .stamp,
                        consumption: .by(order)))
            }
        }
        let spent = CoinsSpent(
            environment: .production, coins: 5, purpose: .stamp, hold: nil, order: .freeFirst,
            policyVersion: "7", slices: slices)
        let refunds = [Int64.min, -1, 0, 1, 100_000, .max].flatMap { percentage in
            ShortfallPolicy.allCases.map { policy in
                Command.Action.refund(
                    RefundNotice(
                        purchase: key, lots: lots, percentage: percentage,
                        signedAt: .noon(plus: 1), shortfallPolicy: policy))
            }
        }
        let gift = Gift(
            environment: .production, coins: 5, expiresAt: nil, reason: "", campaignID: nil)
        let hold = EventID(lane: 0, position: 1)
        return spends + refunds + [
            .give(gift), .expireCoins, .releaseHold(hold),
            .captureHold(HoldCapture(hold: hold, coins: nil, consumption: .by(.freeFirst))),
            .reverseSpend(SpendReversal(spend: hold, spent: spent, reason: "")),
            .adjust(
                Adjustment(
                    environment: .production, change: .remove(5), reason: "", ticketID: "")),
        ]
    }()

    @Test func `is folded and decided on all the same`() {
        for seed in 0..<300 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            var history = History()
            for step in 1...12 {
                history.append(Self.event(&random))
                #expect(history.account.version == Int64(step), "seed \(seed)")
                let balance = history.balance()
                #expect(balance.total >= balance.available, "seed \(seed)")
                decideEverything(on: history, seed)
            }
        }
    }

    /// Whether a command is refused doesn't matter here, only that there is an answer.
    private func decideEverything(on history: History, _ seed: UInt64) {
        for action in Self.actions {
            var copy = history
            do throws(Rejection) {
                let events = try copy.carryOut(action)
                #expect(!events.isEmpty, "seed \(seed): \(action)")
            } catch {
                #expect(copy.account == history.account, "seed \(seed): \(action)")
            }
        }
    }

    @Test func `may be at its last version and lot`() throws {
        var account = Account(
            version: .max, production: .empty, sandbox: .empty, lotCount: .max)
        let command = Command.grant("T1", to: "u1", paid: 5, free: 5)
        for event in try account.decide(command, knowing: Facts()) {
            account.evolve(event, id: EventID(lane: 0, position: 1))
        }
        #expect(account.production.paid == 5)
    }

    @Test func `never takes more than there is`() {
        let spent = CoinsSpent(
            environment: .production, coins: 9, purpose: .stamp, hold: nil, order: .freeFirst,
            policyVersion: "7", slices: [.paid(1, 9), .paid(2, 1), .free(1, 1)])
        let history = History(
            .coinsGranted(
                CoinsGranted(
                    environment: .production, source: .purchase(Self.key), lots: [.paid(1, 5)])),
            .coinsSpent(spent))
        #expect(history.balance() == .of())
        #expect(history.account.production.openLots.isEmpty)
    }
}
