import CoinLedger
import LedgerTestSupport
import Testing

@Suite struct `Coins that expire` {
    private static let end = Timestamp.noon(plus: 1000)

    private func gifted() throws -> History {
        var history = History()
        try history.give(10, until: Self.end)
        return history
    }

    private func expired(_ slices: Slice...) -> [Event] {
        [.coinsExpired(CoinsExpired(environment: .production, slices: slices))]
    }

    @Test func `can be spent a millisecond before`() throws {
        var history = try gifted()
        #expect(try history.spend(10, at: .noon(plus: 999)).slices == [.free(1, 10)])
    }

    @Test(arguments: [1000, 1001] as [Int64])
    func `can't be spent from that instant on, though no job ran`(milliseconds: Int64) throws {
        var history = try gifted()
        try history.buy("T1", paid: 5)
        let time = Timestamp.noon(plus: milliseconds)
        #expect(history.balance(at: time) == .of(paid: 5))
        #expect(throws: Rejection.insufficientCoins(needed: 6, available: 5)) {
            try history.spend(6, at: time)
        }
        #expect(throws: Rejection.insufficientCoins(needed: 6, available: 5)) {
            try history.hold(6, until: .noon(plus: 9000), at: time)
        }
        #expect(throws: Rejection.insufficientCoins(needed: 1, available: 0)) {
            try history.adjust(.remove(1), at: time)
        }
    }

    @Test func `are in the balance until then, which says when that is`() throws {
        var history = try gifted()
        try history.give(20, until: .noon(plus: 5000))
        #expect(history.balance(at: .noon(plus: 999)) == .of(free: 30, nextExpiry: Self.end))
        #expect(history.balance(at: Self.end) == .of(free: 20, nextExpiry: .noon(plus: 5000)))
        #expect(history.balance(at: .noon(plus: 5000)) == .of())
        #expect(history.balance(at: .noon(plus: 999)).available == 30)
        #expect(history.balance(at: Self.end).available == 20)
    }

    @Test func `are recorded once, however late`() throws {
        var history = try gifted()
        #expect(throws: Rejection.nothingExpired) {
            try history.carryOut(.expireCoins, at: .noon(plus: 999))
        }
        #expect(try history.carryOut(.expireCoins, at: Self.end) == expired(.free(1, 10)))
        #expect(throws: Rejection.nothingExpired) {
            try history.carryOut(.expireCoins, at: .noon(plus: 2000))
        }
        #expect(history.account.production == .empty)
    }

    @Test func `are recorded for both environments, and nothing else with them`() throws {
        var history = try gifted()
        let gift = Gift(
            environment: .sandbox, coins: 3, expiresAt: Self.end, reason: "test", campaignID: nil)
        try history.carryOut(.give(gift))
        try history.give(4)
        try history.give(5, until: .noon(plus: 1001))
        #expect(
            try history.carryOut(.expireCoins, at: Self.end) == expired(.free(1, 10)) + [
                .coinsExpired(CoinsExpired(environment: .sandbox, slices: [.free(2, 3)]))
            ])
        #expect(history.rest == [3: 4, 4: 5])
    }

    @Test func `that are held stay until the hold is over`() throws {
        var history = try gifted()
        try history.hold(4, until: .noon(plus: 2000))
        #expect(try history.carryOut(.expireCoins, at: Self.end) == expired(.free(1, 6)))
        #expect(history.balance(at: Self.end) == .of(free: 4, held: 4))
        #expect(history.balance(at: Self.end).available == 0)
        #expect(history.balance(at: .noon(plus: 2000)) == .of())
        #expect(
            try history.carryOut(.expireCoins, at: .noon(plus: 2000)) == expired(.free(1, 4)))
    }
}
