import CoinLedger
import LedgerTestSupport
import Testing

@Suite struct `The price of a lot` {
    private func bought(_ coins: Coins, for price: Int64) throws -> History {
        var history = History()
        try history.buy("T1", paid: coins, price: price)
        return history
    }

    private func values(_ spent: CoinsSpent) -> [Int64?] { spent.slices.map(\.value?.milliunits) }

    @Test func `flows out with its coins, to the last thousandth`() throws {
        var history = try bought(120, for: 160)
        #expect(try history.spend(50).slices == [.paid(1, 50, value: 66)])
        #expect(try history.spend(50).slices == [.paid(1, 50, value: 67)])
        #expect(try history.spend(20).slices == [.paid(1, 20, value: 27)])
        #expect(history.account.production.openLots.isEmpty)
    }

    @Test func `still sums up if a slice came back in between`() throws {
        var history = try bought(120, for: 160)
        try history.spend(50)
        let first = history.last
        #expect(try values(history.spend(50)) == [67])
        try history.takeBack(first)
        // 67 are out with 50 coins. With 100 it's floor(160 · 100 / 120) = 133, with 120 all 160.
        #expect(history.account.production.openLot(1)?.valueOut == 67)
        #expect(try values(history.spend(50)) == [66])
        #expect(try values(history.spend(20)) == [27])
    }

    @Test func `never flows backwards`() throws {
        // A thousandth over three coins leaves with the last one.
        var history = try bought(3, for: 1)
        #expect(try values(history.spend(1)) == [0])
        let first = history.last
        #expect(try values(history.spend(1)) == [0])
        let second = history.last
        #expect(try values(history.spend(1)) == [1])
        try history.takeBack(first)
        try history.takeBack(second)
        // It's out already, with one coin of three.
        #expect(history.account.production.openLot(1)?.valueOut == 1)
        #expect(try values(history.spend(1)) == [0])
        #expect(try values(history.spend(1)) == [0])
    }

    @Test func `is exact where price times coins is more than 64 bits`() throws {
        let most = Coins.amountMax
        var history = try bought(9_007_199_254_740_991, for: .max)
        // floor((2^63 − 1) · 1 / (2^53 − 1)) = 1024, since 1024 · (2^53 − 1) = 2^63 − 1024.
        #expect(try values(history.spend(1)) == [1024])
        #expect(try values(history.spend(#require(Coins(most - 1)))) == [.max - 1024])
    }

    @Test func `of nothing is nothing, and of none is none`() throws {
        var history = try bought(3, for: 0)
        try history.give(2)
        #expect(try history.spend(5).slices == [.free(2, 2), .paid(1, 3, value: 0)])
        try history.buy("T2", paid: 4, price: nil)
        #expect(try history.spend(4).slices == [.paid(3, 4)])
    }

    @Test func `below nothing flows nowhere`() throws {
        for price in [-1, Int64.min] {
            var history = try bought(3, for: price)
            #expect(try values(history.spend(3)) == [0])
        }
    }

    @Test func `leaves with expired coins too`() throws {
        var history = History(
            .coinsGranted(
                CoinsGranted(
                    environment: .production, source: .purchase(.appStore("T1")),
                    lots: [.paid(1, 120, price: 160, until: .noon(plus: 1))])))
        try history.spend(50)
        let events = try history.carryOut(.expireCoins, at: .noon(plus: 1))
        #expect(
            events == [
                .coinsExpired(
                    CoinsExpired(environment: .production, slices: [.paid(1, 70, value: 94)]))
            ])
    }
}
