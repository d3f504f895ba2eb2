import CoinLedger
import LedgerTestSupport
import Testing

/// 120 paid coins for 160 thousandths and 12 free ones, of which `spent` are gone, paid ones first.
func bought(spending spent: Coins = 0) throws -> History {
    var history = History()
    try history.buy("T1", paid: 120, free: 12, price: 160)
    if spent > .zero { try history.spend(spent, .paidFirst) }
    return history
}

extension ReturnedSlice {
    /// Of the paid lot of `bought`.
    static func own(_ coins: Coins, value: Int64) -> ReturnedSlice {
        ReturnedSlice(
            lot: .paid(1, 120, price: 160), coins: coins,
            value: StatedPrice(milliunits: value, currency: "USD"))
    }

    static func bonus(_ coins: Coins) -> ReturnedSlice {
        ReturnedSlice(lot: .free(2, 12), coins: coins, value: nil)
    }
}

func refunded(
    _ percentage: Int64, signed: Int64, _ policy: ShortfallPolicy = .debt,
    taken: [ReturnedSlice], debt: Coins = 0, writtenOff: Coins = 0
) -> Event {
    .purchaseRefunded(
        PurchaseRefunded(
            purchase: .appStore("T1"), percentage: percentage, signedAt: .noon(plus: signed),
            shortfallPolicy: policy, taken: taken, debt: debt, writtenOff: writtenOff))
}

func reversed(signed: Int64, returned: [ReturnedSlice], cleared: Coins = 0) -> Event {
    .refundReversed(
        RefundReversed(
            purchase: .appStore("T1"), signedAt: .noon(plus: signed), returned: returned,
            debtCleared: cleared))
}

@Suite struct `A refund` {
    @Test func `in full takes everything of its purchase, bonus coins too`() throws {
        var history = try bought()
        try history.buy("T2", paid: 5)
        try history.give(6)
        #expect(
            try history.refund("T1", 100_000, signed: 1) == [
                refunded(100_000, signed: 1, taken: [.own(120, value: 160), .bonus(12)])
            ])
        #expect(history.balance() == .of(paid: 5, free: 6))
    }

    @Test func `in part takes the same part of every lot`() throws {
        var history = try bought()
        // 40 % of 120 is 48, worth floor(160 · 48 / 120) = 64; 40 % of 12 is 4.8, rounded 5.
        #expect(
            try history.refund("T1", 40_000, signed: 1) == [
                refunded(40_000, signed: 1, taken: [.own(48, value: 64), .bonus(5)])
            ])
        #expect(history.rest == [1: 72, 2: 7])
    }

    @Test(arguments: [
        (100 as Coins, 40_000 as Int64, 40 as Coins), (100, 67_932, 68), (1, 49_999, 0),
        (1, 50_000, 1), (3, 50_000, 2), (3, 16_666, 0), (3, 16_667, 1), (0, 100_000, 0),
        (7, 0, 0), (7, 100_000, 7), (9_007_199_254_740_991, 50_000, 4_503_599_627_370_496),
        (9_007_199_254_740_991, 100_000, 9_007_199_254_740_991), (7, 100_001, 7), (7, .max, 7),
        (7, -1, 0), (7, .min, 0),
    ])
    func `rounds half up, within 0 and all`(coins: Coins, percentage: Int64, target: Coins) {
        #expect(Refund.target(of: coins, percentage: percentage) == target)
    }

    @Test func `is cumulative: of a later one only the difference is taken`() throws {
        var history = try bought()
        try history.refund("T1", 40_000, signed: 1)
        // 67.932 % of 120 is 81.52, rounded 82: 34 more, worth floor(160 · 82 / 120) − 64 = 45.
        // 67.932 % of 12 is 8.15, rounded 8: 3 more.
        #expect(
            try history.refund("T1", 67_932, signed: 2) == [
                refunded(67_932, signed: 2, taken: [.own(34, value: 45), .bonus(3)])
            ])
        #expect(history.rest == [1: 38, 2: 4])
        let refund = history.account.production.refunds[.appStore("T1")]
        #expect(refund?.taken == [.own(82, value: 109), .bonus(8)])
        #expect(refund?.percentage == 67_932)
    }

    @Test func `that is repeated with a later date takes nothing more`() throws {
        var history = try bought()
        try history.refund("T1", 40_000, signed: 1)
        #expect(
            try history.refund("T1", 40_000, signed: 2) == [
                refunded(40_000, signed: 2, taken: [])
            ])
        #expect(throws: Rejection.refundIsOlder) {
            try history.refund("T1", 100_000, signed: 1)
        }
    }

    @Test func `that is repeated word for word is known`() throws {
        var history = try bought()
        try history.refund("T1", 40_000, signed: 1)
        #expect(throws: Rejection.refundAlreadyKnown) {
            try history.refund("T1", 40_000, signed: 1)
        }
    }

    @Test func `that was signed earlier changes nothing any more`() throws {
        var history = try bought()
        try history.refund("T1", 40_000, signed: 2)
        for percentage: Int64 in [0, 40_000, 100_000] {
            #expect(throws: Rejection.refundIsOlder) {
                try history.refund("T1", percentage, signed: 1)
            }
        }
        #expect(history.rest == [1: 72, 2: 7])
    }

    @Test func `of two signed in one millisecond the larger counts, and a reversal before both`()
        throws
    {
        var history = try bought()
        try history.refund("T1", 40_000, signed: 1)
        try history.refund("T1", 50_000, signed: 1)
        #expect(throws: Rejection.refundIsOlder) { try history.refund("T1", 40_000, signed: 1) }
        try history.refund("T1", 0, signed: 1)
        #expect(throws: Rejection.refundIsOlder) { try history.refund("T1", 100_000, signed: 1) }
        #expect(throws: Rejection.refundAlreadyKnown) { try history.refund("T1", 0, signed: 1) }
        #expect(history.rest == [1: 120, 2: 12])
    }

    @Test func `that the store lowers gives all back and takes less`() throws {
        var history = try bought()
        try history.refund("T1", 100_000, signed: 1)
        #expect(
            try history.refund("T1", 40_000, signed: 2) == [
                reversed(signed: 2, returned: [.own(120, value: 160), .bonus(12)]),
                refunded(40_000, signed: 2, taken: [.own(48, value: 64), .bonus(5)]),
            ])
        var direct = try bought()
        try direct.refund("T1", 40_000, signed: 2)
        #expect(history.account.production == direct.account.production)
    }

    @Test func `leaves held coins alone, and what it misses is owed`() throws {
        var history = try bought()
        let hold = try history.hold(50, until: .noon(plus: 1000), .paidFirst)
        #expect(
            try history.refund("T1", 100_000, signed: 1) == [
                refunded(100_000, signed: 1, taken: [.own(70, value: 93), .bonus(12)], debt: 50)
            ])
        #expect(history.balance() == .of(paid: 50, held: 50, debt: 50))
        // What is being delivered is delivered.
        #expect(try history.capture(hold).coins == 50)
        #expect(history.balance() == .of(debt: 50))
    }

    @Test func `takes coins whose hold is over`() throws {
        var history = try bought()
        try history.hold(50, until: .noon(plus: 1000), .paidFirst)
        try history.refund("T1", 100_000, signed: 1, at: .noon(plus: 1000))
        #expect(history.balance(at: .noon(plus: 1000)) == .of())
    }

    @Test func `takes coins of its environment only`() throws {
        var history = History()
        try history.buy("T1")
        let sandbox = PurchaseGrant(
            purchase: .appStore("T1", environment: .sandbox),
            coins: GrantedCoins(paid: 100, free: 0), catalogueVersion: "2026-11")
        try history.carryOut(.grantPurchase(sandbox))
        let key = PurchaseKey.appStore("T1", .sandbox)
        let notice = RefundNotice(
            purchase: key, lots: history.lots(of: key), percentage: 100_000, signedAt: .noon,
            shortfallPolicy: .debt)
        try history.carryOut(.refund(notice))
        #expect(history.balance() == .of(paid: 100))
        #expect(history.account.sandbox.balance(at: .noon) == .of())
    }
}
