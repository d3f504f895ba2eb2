import CoinLedger
import LedgerTestSupport
import Testing

@Suite struct `A number of coins` {
    @Test(arguments: [
        (0, true), (1, true), (9_007_199_254_740_991, true), (9_007_199_254_740_992, false),
        (-1, false), (Int64.max, false), (Int64.min, false),
    ])
    func `is whole, from 0 to 2^53 − 1`(amount: Int64, isValid: Bool) {
        #expect((Coins(amount) != nil) == isValid)
        #expect(Coins(amount).map(\.amount) == (isValid ? amount : nil))
    }

    @Test func `is added to another up to the maximum`() {
        let most: Coins = 9_007_199_254_740_991
        #expect((9_007_199_254_740_990 as Coins).adding(1) == most)
        #expect(most.adding(0) == most)
        #expect(most.adding(1) == nil)
        #expect(most.adding(most) == nil)
    }

    @Test(arguments: [
        (100 as Coins, 3 as Int64, 300 as Int64?), (100, 0, 0), (0, .max, 0), (100, -1, nil),
        (1, 9_007_199_254_740_991, 9_007_199_254_740_991), (1, 9_007_199_254_740_992, nil),
        (2, .max, nil), (9_007_199_254_740_991, .max, nil), (1, .min, nil),
    ])
    func `is multiplied up to the maximum`(coins: Coins, factor: Int64, product: Int64?) {
        #expect(coins.multiplied(by: factor)?.amount == product)
    }

    @Test func `is ordered by amount`() {
        #expect((1 as Coins) < 2)
        #expect(!((2 as Coins) < 2))
    }
}

@Suite struct `An identifier` {
    static let longest = String(repeating: "x", count: 64)

    @Test(arguments: [
        ("u1", true, true), ("A.b_c-9", true, true), ("player:42", true, false),
        (longest, true, true), (longest + "x", false, false), ("", false, false),
        ("a b", false, false), ("a/b", false, false), ("é", false, false),
        ("a\u{0}", false, false), ("a\n", false, false), ("a%20", false, false),
        ("１", false, false), ("a+b", false, false), ("*", false, false),
    ])
    func `is 1 to 64 plain characters`(text: String, namesAccount: Bool, namesTransaction: Bool) {
        #expect(AccountID(text).map(\.text) == (namesAccount ? text : nil))
        #expect(TransactionID(text).map(\.text) == (namesTransaction ? text : nil))
    }
}

@Suite struct `An app account token's text` {
    @Test func `is kept in lower case`() {
        let text = "6F9619FF-8B86-D011-B42D-00CF4FC964FF"
        #expect(AppAccountToken(text)?.text == "6f9619ff-8b86-d011-b42d-00cf4fc964ff")
    }

    @Test(arguments: [
        "", "6f9619ff8b86d011b42d00cf4fc964ff", "6f9619ff-8b86-d011-b42d-00cf4fc964f",
        "6f9619ff-8b86-d011-b42d-00cf4fc964ff0", "6f9619ff-8b86-d011-b42d-00cf4fc964fg",
        "{6f9619ff-8b86-d011-b42d-00cf4fc964f}", "6f9619ff-8b86-d011-b42d000cf4fc964ff",
        "6f9619f--8b86-d011-b42d-00cf4fc964ff", "6f9619ff-8b86-d011-b42d-00cf4fc964é",
    ])
    func `is a UUID and nothing else`(text: String) {
        #expect(AppAccountToken(text) == nil)
    }
}

@Suite struct `An account id` {
    @Test func `is read as it was stored, also where nobody can have it`() {
        #expect(AccountID(stored: "*") == .unclaimed)
        #expect(AccountID(stored: "u1") == "u1")
        #expect(AccountID(stored: "") == nil)
    }
}

@Suite struct `A stored name` {
    @Test func `never changes`() {
        #expect(Store.allCases.map(\.rawValue) == ["app_store"])
        #expect(Environment.allCases.map(\.rawValue) == ["Production", "Sandbox"])
        #expect(Lot.Kind.allCases.map(\.rawValue) == ["paid", "free"])
        #expect(
            ConsumptionOrder.allCases.map(\.rawValue)
                == [
                    "free_first", "earliest_expiry_first", "paid_first", "highest_unit_price_first",
                ])
        #expect(
            ShortfallPolicy.allCases.map(\.rawValue) == ["debt", "take_other_paid", "write_off"])
    }
}
