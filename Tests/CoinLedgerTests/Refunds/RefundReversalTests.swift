import CoinLedger
import LedgerTestSupport
import Testing

@Suite struct `A refund that is reversed` {
    @Test func `gives back exactly what was taken, in the same lots`() throws {
        var history = try bought(spending: 70)
        let before = history.account.production.openLots
        try history.refund("T1", 40_000, signed: 1)
        try history.refund("T1", 41_000, signed: 2)
        // 49 of 120 in two slices: worth floor(160 · 119 / 120) − 93 = 65.
        #expect(
            try history.refund("T1", 0, signed: 3) == [
                reversed(signed: 3, returned: [.own(49, value: 65), .bonus(5)])
            ])
        #expect(history.account.production.openLots == before)
        #expect(
            history.account.production.refunds[.appStore("T1")]
                == Refund(
                    signedAt: .noon(plus: 3), percentage: 0, taken: [], debt: 0, writtenOff: 0))
    }

    @Test func `clears the debt it caused`() throws {
        var history = try bought(spending: 70)
        try history.refund("T1", 100_000, signed: 1)
        #expect(
            try history.refund("T1", 0, signed: 2) == [
                reversed(
                    signed: 2, returned: [.own(50, value: 67), .bonus(12)], cleared: 70)
            ])
        #expect(history.balance() == .of(paid: 50, free: 12))
        try history.spend(1)
    }

    @Test func `gives back the coins that paid its debt, to the lots they came in`() throws {
        var history = try bought(spending: 70)
        try history.refund("T1", 100_000, signed: 1)
        try history.give(30, until: .noon(plus: 1000))
        try history.buy("T2", paid: 50, price: 500)
        #expect(history.balance() == .of(paid: 10))
        try history.refund("T1", 0, signed: 2)
        #expect(history.rest == [1: 50, 2: 12, 3: 30, 4: 50])
        #expect(history.account.production.openLot(4)?.valueOut == 0)
        #expect(history.balance() == .of(paid: 100, free: 42, nextExpiry: .noon(plus: 1000)))
        #expect(history.balance(at: .noon(plus: 1000)) == .of(paid: 100, free: 12))
    }

    @Test func `clears only its own debt`() throws {
        var history = try bought(spending: 120)
        try history.buy("T2", paid: 30)
        try history.spend(30, .paidFirst)
        try history.refund("T1", 100_000, signed: 1)
        try history.refund("T2", 100_000, signed: 1)
        #expect(history.balance().debt == 150)
        try history.refund("T1", 0, signed: 2)
        #expect(history.balance() == .of(free: 12, debt: 30))
    }

    @Test func `gives back other paid coins that were taken`() throws {
        var history = try bought(spending: 120)
        try history.buy("T2", paid: 40)
        try history.refund("T1", 100_000, signed: 1, .takeOtherPaid)
        #expect(history.balance() == .of(debt: 80))
        try history.refund("T1", 0, signed: 2, .takeOtherPaid)
        #expect(history.balance() == .of(paid: 40, free: 12))
    }

    @Test func `asks no more for what was given up`() throws {
        var history = try bought(spending: 120)
        try history.refund("T1", 100_000, signed: 1, .writeOff)
        try history.refund("T1", 0, signed: 2, .writeOff)
        #expect(history.balance() == .of(free: 12))
        // And refunded anew: the same again.
        try history.refund("T1", 100_000, signed: 3, .writeOff)
        #expect(history.account.production.refunds[.appStore("T1")]?.writtenOff == 120)
        #expect(history.balance() == .of())
    }

    @Test func `and then refunded again nets one refund`() throws {
        var history = try bought(spending: 70)
        try history.refund("T1", 100_000, signed: 1)
        let once = history.balance()
        try history.refund("T1", 0, signed: 2)
        try history.refund("T1", 100_000, signed: 3)
        #expect(history.balance() == once)
    }

    @Test func `is not undone by an older word that comes late`() throws {
        var history = try bought(spending: 70)
        try history.refund("T1", 0, signed: 2)
        #expect(throws: Rejection.refundIsOlder) { try history.refund("T1", 100_000, signed: 1) }
        #expect(history.balance() == .of(paid: 50, free: 12))
    }

    @Test func `must fit into the balance`() throws {
        var history = History()
        try history.buy("T1", paid: 9_007_199_254_740_991)
        try history.refund("T1", 100_000, signed: 1)
        try history.give(1)
        #expect(throws: Rejection.balanceTooLarge) { try history.refund("T1", 0, signed: 2) }
    }
}

@Suite struct `A refund before its purchase` {
    @Test func `is remembered, and then nothing is granted`() throws {
        var history = History()
        let word = RefundWord(
            purchase: .appStore("T1"), percentage: 100_000, signedAt: .noon(plus: 1))
        #expect(try history.remember("T1", 100_000, signed: 1) == [.refundRemembered(word)])
        #expect(history.unclaimed.version == 1)
        #expect(history.unclaimed.balance(at: .noon).production == .zero)
        #expect(throws: Rejection.refundedBefore) { try history.buy("T1") }
        try history.buy("T2")
    }

    @Test func `counts under the original id as well`() throws {
        var history = History()
        try history.remember("T1", 100_000, signed: 1)
        let grant = PurchaseGrant(
            purchase: .appStore("T2", original: "T1"), coins: GrantedCoins(paid: 1, free: 0),
            catalogueVersion: "2026-11")
        #expect(throws: Rejection.refundedBefore) { try history.carryOut(.grantPurchase(grant)) }
    }

    @Test func `is replaced by a later word only`() throws {
        var history = History()
        try history.remember("T1", 40_000, signed: 2)
        #expect(throws: Rejection.refundAlreadyKnown) {
            try history.remember("T1", 40_000, signed: 2)
        }
        for (percentage, signed) in [(0, 1), (100_000, 1), (39_999, 2)] as [(Int64, Int64)] {
            #expect(throws: Rejection.refundIsOlder) {
                try history.remember("T1", percentage, signed: signed)
            }
        }
        try history.remember("T1", 100_000, signed: 2)
        try history.remember("T1", 0, signed: 2)
        #expect(throws: Rejection.refundIsOlder) {
            try history.remember("T1", 100_000, signed: 2)
        }
        #expect(history.unclaimed.version == 3)
    }

    @Test func `that was reversed before it is granted, and the older refund stays without effect`()
        throws
    {
        var history = History()
        try history.remember("T1", 100_000, signed: 1)
        try history.remember("T1", 0, signed: 2)
        let events = try history.buy("T1", paid: 120)
        #expect(events.last == reversed(signed: 2, returned: []))
        #expect(events.count == 3)
        #expect(history.balance() == .of(paid: 120))
        #expect(throws: Rejection.refundIsOlder) { try history.refund("T1", 100_000, signed: 1) }
        #expect(throws: Rejection.refundAlreadyKnown) { try history.refund("T1", 0, signed: 2) }
        try history.refund("T1", 100_000, signed: 3)
        #expect(history.balance() == .of())
    }

    @Test func `isn't remembered once the purchase is granted`() throws {
        var history = History()
        try history.buy("T1")
        let claim = try #require(history.facts.claims[.appStore("T1")])
        #expect(throws: Rejection.purchaseIsGranted(claim)) {
            try history.remember("T1", 100_000, signed: 1)
        }
    }
}
