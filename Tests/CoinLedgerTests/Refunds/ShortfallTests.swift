import CoinLedger
import LedgerTestSupport
import Testing

@Suite struct `Coins that are refunded but spent` {
    @Test func `are owed`() throws {
        var history = try bought(spending: 70)
        #expect(
            try history.refund("T1", 100_000, signed: 1) == [
                refunded(100_000, signed: 1, taken: [.own(50, value: 67), .bonus(12)], debt: 70)
            ])
        #expect(history.balance() == .of(debt: 70))
        #expect(history.balance().available == 0)
    }

    @Test func `are owed though other coins are there, and nothing is spent meanwhile`() throws {
        var history = try bought(spending: 120)
        try history.buy("T2")
        try history.give(30)
        let hold = try history.hold(10, until: .noon(plus: 1000))
        // Ten of the twelve bonus coins are held.
        try history.refund("T1", 100_000, signed: 1)
        #expect(history.balance() == .of(paid: 100, free: 40, held: 10, debt: 120))
        #expect(history.balance().available == 0)
        #expect(throws: Rejection.inDebt(120)) { try history.spend(1) }
        #expect(throws: Rejection.inDebt(120)) { try history.hold(1, until: .noon(plus: 1)) }
        try history.capture(hold)
        // Support may still correct.
        try history.adjust(.remove(1))
        #expect(history.balance() == .of(paid: 100, free: 29, debt: 120))
    }

    @Test func `are paid by new coins, paid ones before free ones`() throws {
        var history = try bought(spending: 70)
        try history.refund("T1", 100_000, signed: 1)
        let paid = ReturnedSlice(
            lot: .paid(3, 60, price: 600), coins: 60,
            value: StatedPrice(milliunits: 600, currency: "USD"))
        let free = ReturnedSlice(lot: .free(4, 15), coins: 10, value: nil)
        let events = try history.buy("T2", paid: 60, free: 15, price: 600)
        #expect(
            events.last
                == .debtPaid(DebtPaid(purchase: .appStore("T1"), taken: [paid, free])))
        #expect(events.count == 3)
        #expect(history.balance() == .of(free: 5))
        try history.spend(5)
    }

    @Test func `are paid as far as new coins go`() throws {
        var history = try bought(spending: 70)
        try history.refund("T1", 100_000, signed: 1)
        try history.give(30)
        #expect(history.balance() == .of(debt: 40))
        try history.give(39)
        #expect(history.balance() == .of(debt: 1))
        #expect(throws: Rejection.inDebt(1)) { try history.spend(1) }
        try history.give(3)
        #expect(history.balance() == .of(free: 2))
    }

    @Test func `of several purchases are paid in the order of their refunds`() throws {
        var history = History()
        for id: TransactionID in ["T1", "T2", "T3"] { try history.buy(id, paid: 10) }
        try history.spend(30)
        try history.refund("T3", 100_000, signed: 1)
        try history.refund("T1", 100_000, signed: 3)
        try history.refund("T2", 100_000, signed: 3)
        let paid = try history.give(25).compactMap { event -> PurchaseKey? in
            guard case .debtPaid(let payment) = event else { return nil }
            return payment.purchase
        }
        #expect(paid == [.appStore("T3"), .appStore("T1"), .appStore("T2")])
        let refunds = history.account.production.refunds
        #expect(refunds[.appStore("T2")]?.debt == 5)
        #expect(history.balance() == .of(debt: 5))
    }

    @Test func `are taken out of other paid coins by policy, the oldest first`() throws {
        var history = try bought(spending: 70)
        try history.buy("T2", paid: 40, price: 400)
        try history.buy("T3", paid: 40, price: 400)
        try history.give(100)
        let second = ReturnedSlice(
            lot: .paid(3, 40, price: 400), coins: 40,
            value: StatedPrice(milliunits: 400, currency: "USD"))
        let third = ReturnedSlice(
            lot: .paid(4, 40, price: 400), coins: 30,
            value: StatedPrice(milliunits: 300, currency: "USD"))
        #expect(
            try history.refund("T1", 100_000, signed: 1, .takeOtherPaid) == [
                refunded(
                    100_000, signed: 1, .takeOtherPaid,
                    taken: [.own(50, value: 67), .bonus(12), second, third])
            ])
        #expect(history.balance() == .of(paid: 10, free: 100))
    }

    @Test func `that other paid coins don't cover are owed, and held ones aren't taken`() throws {
        var history = try bought(spending: 120)
        try history.buy("T2", paid: 40)
        try history.hold(25, until: .noon(plus: 1000), .paidFirst)
        try history.refund("T1", 100_000, signed: 1, .takeOtherPaid)
        #expect(history.balance() == .of(paid: 25, held: 25, debt: 105))
    }

    @Test func `aren't taken out of coins whose time is over`() throws {
        var history = try bought(spending: 120)
        history.append(
            .coinsGranted(
                CoinsGranted(
                    environment: .production, source: .purchase(.appStore("T2")),
                    lots: [.paid(3, 40, until: .noon(plus: 1)), .paid(4, 40)])))
        try history.refund("T1", 100_000, signed: 1, .takeOtherPaid, at: .noon(plus: 1))
        #expect(history.rest == [3: 40])
        #expect(history.balance(at: .noon(plus: 1)) == .of(debt: 80))
    }

    @Test func `are given up by policy`() throws {
        var history = try bought(spending: 70)
        #expect(
            try history.refund("T1", 100_000, signed: 1, .writeOff) == [
                refunded(
                    100_000, signed: 1, .writeOff, taken: [.own(50, value: 67), .bonus(12)],
                    writtenOff: 70)
            ])
        #expect(history.balance() == .of())
        #expect(history.account.production.refunds[.appStore("T1")]?.writtenOff == 70)
    }

    @Test(arguments: ShortfallPolicy.allCases)
    func `are given up if they came as a bonus, by every policy`(policy: ShortfallPolicy) throws {
        var history = History()
        try history.buy("T1", paid: 120, free: 12, price: 160)
        try history.spend(8)
        #expect(
            try history.refund("T1", 100_000, signed: 1, policy) == [
                refunded(
                    100_000, signed: 1, policy, taken: [.own(120, value: 160), .bonus(4)],
                    writtenOff: 8)
            ])
        #expect(history.balance() == .of())
    }

    @Test func `are asked for once, however the refund grows`() throws {
        var history = try bought(spending: 70)
        try history.refund("T1", 50_000, signed: 1)
        // 60 of 120: the 50 that are left, and 10 owed.
        #expect(history.balance() == .of(free: 6, debt: 10))
        try history.refund("T1", 75_000, signed: 2)
        #expect(history.balance() == .of(free: 3, debt: 40))
        try history.refund("T1", 100_000, signed: 3)
        #expect(history.balance() == .of(debt: 70))
    }
}
