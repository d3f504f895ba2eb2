import CoinLedger
import LedgerTestSupport
import Testing

@Suite struct `A spend that is taken back` {
    private func spent() throws -> (history: History, spend: EventID) {
        var history = History()
        try history.buy("T1", paid: 120, price: 160)
        try history.give(10, until: .noon(plus: 1000))
        try history.spend(60)
        return (history, history.last)
    }

    private func reversed(_ spend: EventID, _ slices: [ReturnedSlice], _ lapsed: [Slice])
        -> SpendReversed
    {
        SpendReversed(
            environment: .production, spend: spend, reason: "not delivered", returned: slices,
            lapsed: lapsed)
    }

    private let paid = ReturnedSlice(
        lot: .paid(1, 120, price: 160), coins: 50,
        value: StatedPrice(milliunits: 66, currency: "USD"))

    @Test func `returns its coins to the same lots`() throws {
        var (history, spend) = try spent()
        let free = ReturnedSlice(
            lot: .free(2, 10, until: .noon(plus: 1000)), coins: 10, value: nil)
        #expect(
            try history.takeBack(spend, at: .noon(plus: 999)) == reversed(spend, [free, paid], []))
        #expect(history.rest == [1: 120, 2: 10])
        #expect(history.account.production.openLot(1)?.valueOut == 0)
    }

    @Test func `reports coins whose time is over as lapsed`() throws {
        var (history, spend) = try spent()
        #expect(
            try history.takeBack(spend, at: .noon(plus: 1000))
                == reversed(spend, [paid], [.free(2, 10)]))
        #expect(history.rest == [1: 120])
        #expect(history.balance(at: .noon(plus: 1000)) == .of(paid: 120))
    }

    @Test func `reports coins of a lot that nobody knows as lapsed`() throws {
        var (history, spend) = try spent()
        history.facts.lots = [:]
        // The first lot is still open, the second one was used up.
        #expect(try history.takeBack(spend) == reversed(spend, [paid], [.free(2, 10)]))
    }

    @Test func `is taken back once`() throws {
        var (history, spend) = try spent()
        try history.takeBack(spend)
        let by = history.last
        #expect(throws: Rejection.spendAlreadyReversed(by: by)) { try history.takeBack(spend) }
        #expect(history.rest == [1: 120, 2: 10])
    }

    @Test func `may have been a captured hold`() throws {
        var history = History()
        try history.give(10)
        let hold = try history.hold(10, until: .noon(plus: 1000))
        try history.capture(hold, 4)
        try history.takeBack(history.last)
        #expect(history.balance() == .of(free: 10))
    }

    @Test func `returns coins to a purchase that was refunded, and its debt stays`() throws {
        var (history, spend) = try spent()
        try history.refund("T1", 100_000, signed: 1)
        #expect(history.balance().debt == 50)
        try history.takeBack(spend)
        #expect(history.balance().debt == 50)
        #expect(history.rest == [1: 50, 2: 10])
        try history.refund("T1", 0, signed: 2)
        #expect(history.rest == [1: 120, 2: 10])
        #expect(history.balance().debt == 0)
    }

    @Test func `must fit into the balance`() throws {
        var history = History()
        try history.give(9_007_199_254_740_991)
        try history.spend(2)
        let spend = history.last
        try history.give(1)
        #expect(throws: Rejection.balanceTooLarge) { try history.takeBack(spend) }
    }
}
