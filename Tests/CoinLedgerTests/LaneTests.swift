import CoinLedger
import LedgerTestSupport
import Testing

@Suite struct `A lane` {
    /// Worked out with another implementation of FNV-1a, whose hash of `a` is the published
    /// test vector 0xAF63DC4C8601EC8C.
    @Test(arguments: [
        ("a", [0, 0, 0, 1, 192]),
        ("u1", [0, 0, 0, 3, 244]),
        ("u2", [0, 1, 1, 6, 417]),
        ("u3", [0, 0, 2, 1, 606]),
        ("u4", [0, 1, 3, 6, 779]),
        ("player-1", [0, 0, 2, 6, 74]),
        ("player:42", [0, 1, 1, 2, 565]),
        ("6f9619ff-8b86-d011-b42d-00cf4fc964ff", [0, 1, 3, 3, 299]),
        (String(repeating: "A", count: 64), [0, 1, 3, 6, 915]),
    ])
    func `of an account is the same for ever`(text: String, lanes: [Int64]) throws {
        let account = try #require(AccountID(text))
        let found = [1, 2, 4, 7, 1024].map { Lane.of(account, count: $0).number }
        #expect(found == lanes)
    }

    @Test func `of an account differs with the account`() throws {
        var counts: [Int64: Int] = [:]
        for number in 0..<4000 {
            let account = try #require(AccountID("player-\(number)"))
            counts[Lane.of(account, count: 4).number, default: 0] += 1
        }
        for lane in 0..<4 as Range<Int64> { #expect((900...1100).contains(counts[lane] ?? 0)) }
    }

    @Test(arguments: [(0, true), (1023, true), (1024, false), (-1, false), (Int64.max, false)])
    func `has a number below 1024`(number: Int64, isValid: Bool) {
        #expect((Lane(number) != nil) == isValid)
    }
}

@Suite struct `An event's id` {
    @Test func `is written as lane and position`() {
        #expect(EventID(lane: 3, position: 17).description == "3-17")
    }

    @Test(arguments: [(0 as Lane, 1 as Int64), (1023, .max)])
    func `is read as it is written`(lane: Lane, position: Int64) {
        let id = EventID(lane: lane, position: position)
        #expect(EventID(id.description) == id)
    }

    @Test(arguments: [
        "", "3", "-", "3-", "-17", "3-0", "3--1", "3-+1", "+3-1", "03-1", "3-01", "3-1-1",
        "1024-1", "3-9223372036854775808", "3 -1", "3-1 ", "a-b", "３-1",
    ])
    func `has one text only`(text: String) {
        #expect(EventID(text) == nil)
    }
}
