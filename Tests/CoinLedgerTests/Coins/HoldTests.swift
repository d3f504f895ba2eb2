import CoinLedger
import LedgerTestSupport
import Testing

@Suite struct `A hold` {
    private static let end = Timestamp.noon(plus: 60_000)

    /// 100 paid coins and 10 free ones, of which 30 are held: all free ones and 20 paid ones.
    private func held() throws -> (history: History, hold: EventID) {
        var history = History()
        try history.buy("T1", price: 1000)
        try history.give(10)
        let hold = try history.hold(30, until: Self.end)
        return (history, hold)
    }

    @Test func `records what it sets aside of which lot, and moves nothing`() throws {
        let (history, hold) = try held()
        #expect(
            history.log.last?.event
                == .coinsHeld(
                    CoinsHeld(
                        environment: .production, coins: 30, purpose: .stamp, heldAt: .noon,
                        expiresAt: Self.end, order: .freeFirst, policyVersion: "7",
                        slices: [HeldSlice(lot: 2, coins: 10), HeldSlice(lot: 1, coins: 20)])))
        #expect(history.rest == [1: 100, 2: 10])
        #expect(history.account.production.holds.map(\.id) == [hold])
    }

    @Test func `is in the balance, but can't be spent`() throws {
        var (history, _) = try held()
        #expect(history.balance() == .of(paid: 100, free: 10, held: 30))
        #expect(history.balance().available == 80)
        #expect(throws: Rejection.insufficientCoins(needed: 81, available: 80)) {
            try history.spend(81)
        }
        #expect(throws: Rejection.insufficientCoins(needed: 1, available: 0)) {
            try history.adjust(.remove(1))
        }
        #expect(try history.spend(80).slices == [.paid(1, 80, value: 800)])
    }

    @Test func `is never held twice`() throws {
        var (history, _) = try held()
        try history.hold(80, until: Self.end)
        #expect(throws: Rejection.insufficientCoins(needed: 1, available: 0)) {
            try history.hold(1, until: Self.end)
        }
        #expect(history.balance() == .of(paid: 100, free: 10, held: 110))
    }

    @Test func `is captured as a whole`() throws {
        var (history, hold) = try held()
        #expect(
            try history.capture(hold)
                == CoinsSpent(
                    environment: .production, coins: 30, purpose: .stamp, hold: hold,
                    order: .freeFirst, policyVersion: "7",
                    slices: [.free(2, 10), .paid(1, 20, value: 200)]))
        #expect(history.balance() == .of(paid: 80))
        #expect(throws: Rejection.holdNotFound) { try history.capture(hold) }
    }

    @Test func `is captured in part, and the rest is free again`() throws {
        var (history, hold) = try held()
        #expect(try history.capture(hold, 12).slices == [.free(2, 10), .paid(1, 2, value: 20)])
        #expect(history.balance() == .of(paid: 98))
        #expect(history.balance().available == 98)
    }

    @Test func `isn't captured beyond its coins`() throws {
        var (history, hold) = try held()
        #expect(throws: Rejection.captureTooLarge(held: 30)) { try history.capture(hold, 31) }
        #expect(history.balance().held == 30)
    }

    @Test func `that is released frees its coins`() throws {
        var (history, hold) = try held()
        #expect(
            try history.carryOut(.releaseHold(hold)) == [
                .holdReleased(HoldReleased(environment: .production, hold: hold))
            ])
        #expect(history.balance() == .of(paid: 100, free: 10))
        #expect(throws: Rejection.holdNotFound) { try history.carryOut(.releaseHold(hold)) }
        #expect(throws: Rejection.holdNotFound) { try history.capture(hold) }
    }

    @Test func `can be captured a millisecond before it expires`() throws {
        var (history, hold) = try held()
        #expect(try history.capture(hold, at: .noon(plus: 59_999)).coins == 30)
    }

    @Test func `that expires frees its coins at once, without an event`() throws {
        var (history, hold) = try held()
        #expect(history.balance(at: .noon(plus: 59_999)).available == 80)
        #expect(history.balance(at: Self.end) == .of(paid: 100, free: 10))
        #expect(throws: Rejection.holdExpired) { try history.capture(hold, at: Self.end) }
        #expect(throws: Rejection.holdExpired) {
            try history.carryOut(.releaseHold(hold), at: Self.end)
        }
        #expect(try history.spend(110, at: Self.end).coins == 110)
    }

    @Test func `that expired is forgotten with the next hold`() throws {
        var (history, hold) = try held()
        let next = try history.hold(5, until: .noon(plus: 90_000), at: Self.end)
        #expect(history.account.production.holds.map(\.id) == [next])
        #expect(throws: Rejection.holdNotFound) { try history.capture(hold, at: Self.end) }
    }

    @Test func `of coins whose time is over meanwhile can be captured`() throws {
        var history = History()
        try history.give(10, until: .noon(plus: 1000))
        let hold = try history.hold(10, until: Self.end)
        #expect(history.balance(at: .noon(plus: 1000)) == .of(free: 10, held: 10))
        #expect(throws: Rejection.nothingExpired) {
            try history.carryOut(.expireCoins, at: .noon(plus: 1000))
        }
        #expect(try history.capture(hold, at: .noon(plus: 1000)).slices == [.free(1, 10)])
    }

    @Test func `in the sandbox is found there`() throws {
        var history = History()
        let sandbox = Gift(
            environment: .sandbox, coins: 5, expiresAt: nil, reason: "test", campaignID: nil)
        try history.carryOut(.give(sandbox))
        let request = HoldRequest(
            environment: .sandbox, coins: 5, purpose: .stamp, expiresAt: Self.end,
            consumption: .by(.paidFirst))
        try history.carryOut(.hold(request))
        #expect(history.account.sandbox.balance(at: .noon) == .of(free: 5, held: 5))
        #expect(try history.capture(history.last).environment == .sandbox)
    }

    @Test func `whose coins went by a faster clock says so`() throws {
        var (history, hold) = try held()
        // To that clock the hold was over.
        try history.spend(100, at: Self.end)
        #expect(throws: Rejection.insufficientCoins(needed: 30, available: 10)) {
            try history.capture(hold)
        }
        #expect(try history.capture(hold, 10).slices == [.paid(1, 10, value: 100)])
    }
}
