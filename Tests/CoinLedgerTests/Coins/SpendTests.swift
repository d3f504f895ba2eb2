import CoinLedger
import LedgerTestSupport
import Testing

@Suite struct `A spend` {
    @Test func `needs as many coins as it spends`() throws {
        var history = History()
        #expect(throws: Rejection.insufficientCoins(needed: 1, available: 0)) {
            try history.spend(1)
        }
        try history.buy("T1")
        #expect(throws: Rejection.insufficientCoins(needed: 101, available: 100)) {
            try history.spend(101)
        }
        try history.spend(100)
        #expect(history.balance() == .zero)
    }

    @Test func `never uses coins of the other environment`() throws {
        var history = History()
        let sandbox = Gift(
            environment: .sandbox, coins: 50, expiresAt: nil, reason: "test", campaignID: nil)
        try history.carryOut(.give(sandbox))
        #expect(throws: Rejection.insufficientCoins(needed: 1, available: 0)) {
            try history.spend(1)
        }
        let spend = Spend(
            environment: .sandbox, coins: 50, purpose: .stamp, consumption: .by(.freeFirst))
        try history.carryOut(.spend(spend))
        #expect(history.account.balance(at: .noon).sandbox == .zero)
    }

    @Test func `decided twice is spent twice, as far as the account can tell`() throws {
        // The idempotency key is what tells the two apart.
        var history = History()
        try history.buy("T1")
        #expect(try history.spend(10) == history.spend(10))
        #expect(history.rest == [1: 80])
    }
}

@Suite struct `Many lots` {
    private func gifts(_ count: Int) throws -> History {
        var history = History()
        for _ in 0..<count { try history.give(1) }
        return history
    }

    @Test func `are drawn from by one event up to two thousand`() throws {
        var history = try gifts(2001)
        #expect(throws: Rejection.tooManyLots) { try history.spend(2001) }
        #expect(throws: Rejection.tooManyLots) {
            try history.hold(2001, until: .noon(plus: 1))
        }
        #expect(throws: Rejection.tooManyLots) { try history.adjust(.remove(2001)) }
        #expect(throws: Rejection.insufficientCoins(needed: 2002, available: 2001)) {
            try history.spend(2002)
        }
        #expect(try history.spend(2000).slices.count == 2000)
        #expect(history.rest == [2001: 1])
    }

    @Test func `that expire are recorded up to two thousand at a time`() throws {
        var history = History()
        for _ in 0..<2001 { try history.give(1, until: .noon(plus: 1)) }
        var counts: [Int] = []
        for _ in 0..<2 {
            let events = try history.carryOut(.expireCoins, at: .noon(plus: 1))
            guard case .coinsExpired(let expired) = events.first else { continue }
            counts.append(expired.slices.count)
        }
        #expect(counts == [2000, 1])
        #expect(history.account.production == .empty)
    }

    @Test func `are taken for another purchase up to two thousand, and the rest is owed`() throws {
        var history = History()
        try history.buy("T0", paid: 2001)
        try history.spend(2001)
        for number in 1...2001 {
            try history.buy(try #require(TransactionID("T\(number)")), paid: 1)
        }
        try history.refund("T0", 100_000, signed: 1, .takeOtherPaid)
        #expect(history.balance() == .of(paid: 1, debt: 1))
    }

    @Test func `are held by up to a hundred holds`() throws {
        var history = History()
        try history.give(200)
        for _ in 0..<99 { try history.hold(1, until: .noon(plus: 1000)) }
        try history.hold(1, until: .noon(plus: 500))
        #expect(throws: Rejection.tooManyHolds) { try history.hold(1, until: .noon(plus: 1000)) }
        // One is over.
        try history.hold(1, until: .noon(plus: 1000), at: .noon(plus: 500))
        #expect(history.account.production.holds.count == 100)
        #expect(history.balance(at: .noon(plus: 500)).held == 100)
    }
}
