import CoinLedger
import LedgerTestSupport
import Testing

@Suite struct `A gift` {
    @Test func `is a lot of free coins`() throws {
        var history = History()
        #expect(
            try history.give(50, until: .noon(plus: 1)) == [
                .coinsGranted(
                    CoinsGranted(
                        environment: .production,
                        source: .gift(reason: "welcome", campaignID: "autumn"),
                        lots: [.free(1, 50, until: .noon(plus: 1))]))
            ])
        try history.give(1)
        #expect(history.rest == [1: 50, 2: 1])
        #expect(history.account.lotCount == 2)
    }

    @Test func `must fit into the balance`() throws {
        var history = History()
        try history.buy("T1", paid: 9_007_199_254_740_990)
        #expect(throws: Rejection.balanceTooLarge) { try history.give(2) }
        try history.give(1)
        #expect(history.balance().total.amount == Coins.amountMax)
    }
}

@Suite struct `An adjustment` {
    private func adjusted(_ change: CoinsAdjusted.Change) -> Event {
        .coinsAdjusted(
            CoinsAdjusted(
                environment: .production, change: change, reason: "lost", ticketID: "S-1"))
    }

    @Test func `adds a lot of free coins`() throws {
        var history = History()
        #expect(
            try history.adjust(.add(7, expiresAt: .noon(plus: 9))) == [
                adjusted(.added(.free(1, 7, until: .noon(plus: 9))))
            ])
        #expect(history.balance() == .of(free: 7, nextExpiry: .noon(plus: 9)))
        #expect(history.account.lotCount == 1)
    }

    @Test func `removes free coins, the first to expire first`() throws {
        var history = History()
        try history.buy("T1")
        try history.give(5)
        try history.give(5, until: .noon(plus: 9))
        #expect(try history.adjust(.remove(7)) == [adjusted(.removed([.free(3, 5), .free(2, 2)]))])
        #expect(history.rest == [1: 100, 2: 3])
    }

    @Test func `never removes paid coins`() throws {
        var history = History()
        try history.buy("T1")
        try history.give(5)
        #expect(throws: Rejection.insufficientCoins(needed: 6, available: 5)) {
            try history.adjust(.remove(6))
        }
    }

    @Test func `that adds pays debts first`() throws {
        var history = History()
        try history.buy("T1", paid: 10)
        try history.spend(10)
        try history.refund("T1", 100_000, signed: 1)
        let events = try history.adjust(.add(15, expiresAt: nil))
        #expect(events.count == 2)
        #expect(history.balance() == .of(free: 5))
    }

    @Test func `must fit into the balance`() throws {
        var history = History()
        try history.give(9_007_199_254_740_991)
        #expect(throws: Rejection.balanceTooLarge) { try history.adjust(.add(1, expiresAt: nil)) }
    }
}
