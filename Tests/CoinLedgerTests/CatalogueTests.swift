import CoinLedger
import LedgerTestSupport
import Testing

private func product(
    _ id: String = "coins100", paid: Coins = 100, free: Coins = 0, from: Timestamp? = nil,
    until: Timestamp? = nil
) -> Catalogue.Product {
    Catalogue.Product(
        id: id, coins: GrantedCoins(paid: paid, free: free),
        validity: .init(from: from, until: until))
}

private func catalogue(
    _ products: Catalogue.Product...
) throws(Catalogue.Invalid) -> Catalogue {
    try Catalogue(version: "1", bundleIDs: ["com.example.app"], products: products)
}

private let new2026: Timestamp = "2026-01-01T00:00:00Z"
private let new2027: Timestamp = "2027-01-01T00:00:00Z"

@Suite struct `A catalogue` {
    @Test(arguments: [
        ("2025-12-31T23:59:59.999Z" as Timestamp, 100 as Coins),
        ("2026-01-01T00:00:00.000Z", 110), ("2026-12-31T23:59:59.999Z", 110),
        ("2027-01-01T00:00:00.000Z", 120),
    ])
    func `goes by the instant of the purchase`(time: Timestamp, coins: Coins) throws {
        let catalogue = try catalogue(
            product(paid: 110, from: new2026, until: new2027), product(paid: 100, until: new2026),
            product(paid: 120, from: new2027))
        let worth = try catalogue.worth(of: "coins100", quantity: 1, at: time)
        #expect(worth == GrantedCoins(paid: coins, free: 0))
    }

    @Test(arguments: ["2025-12-31T23:59:59.999Z" as Timestamp, "2027-01-01T00:00:00.000Z"])
    func `doesn't know a product outside its time`(time: Timestamp) throws {
        let catalogue = try catalogue(product(from: new2026, until: new2027))
        #expect(throws: Catalogue.WorthError.unknownProduct) {
            try catalogue.worth(of: "coins100", quantity: 1, at: time)
        }
    }

    @Test func `doesn't know a product it doesn't list`() throws {
        let catalogue = try catalogue(product())
        #expect(throws: Catalogue.WorthError.unknownProduct) {
            try catalogue.worth(of: "COINS100", quantity: 1, at: .noon)
        }
    }

    @Test func `multiplies paid and free coins by the quantity`() throws {
        let catalogue = try catalogue(product(paid: 500, free: 50))
        let worth = try catalogue.worth(of: "coins100", quantity: 3, at: .noon)
        #expect(worth == GrantedCoins(paid: 1500, free: 150))
    }

    @Test(arguments: [
        (1 as Coins, 0 as Coins, 9_007_199_254_740_991 as Int64, true),
        (1, 0, 9_007_199_254_740_992, false), (0, 1, .max, false), (2, 2, .max, false),
        (1, 1, 4_503_599_627_370_495, true), (1, 1, 4_503_599_627_370_496, false),
        (100, 0, -1, false),
    ])
    func `refuses what is more than coins can hold`(
        paid: Coins, free: Coins, quantity: Int64, isHeld: Bool
    ) throws {
        let catalogue = try catalogue(product(paid: paid, free: free))
        var error: Catalogue.WorthError?
        do throws(Catalogue.WorthError) {
            _ = try catalogue.worth(of: "coins100", quantity: quantity, at: .noon)
        } catch let thrown {
            error = thrown
        }
        #expect(error == (isHeld ? nil : .tooManyCoins))
    }

    @Test func `refuses a product that is worth nothing`() {
        #expect(throws: Catalogue.Invalid.worthNothing(id: "coins100")) {
            try catalogue(product(paid: 0, free: 0))
        }
        #expect(throws: Never.self) { try catalogue(product(paid: 0, free: 1)) }
    }

    @Test(arguments: [new2026, "2025-12-31T23:59:59.999Z"])
    func `refuses a product that is never valid`(until: Timestamp) {
        #expect(throws: Catalogue.Invalid.neverValid(id: "coins100")) {
            try catalogue(product(from: new2026, until: until))
        }
    }

    static let year = product(from: new2026, until: new2027)

    @Test(arguments: [
        (product(), false), (year, false), (product(from: new2027), true),
        (product(until: new2026), true), (product(from: new2026), false),
        (product(until: new2027), false), (product(until: "2026-01-01T00:00:00.001Z"), false),
        (product(from: "2026-12-31T23:59:59.999Z"), false),
        (product(from: "2026-06-01T00:00:00Z", until: "2026-07-01T00:00:00Z"), false),
        (product("coins500"), true),
    ])
    func `refuses two worths at one instant`(other: Catalogue.Product, isApart: Bool) {
        for pair in [(Self.year, other), (other, Self.year)] {
            var error: Catalogue.Invalid?
            do throws(Catalogue.Invalid) { _ = try catalogue(pair.0, pair.1) } catch let thrown {
                error = thrown
            }
            #expect(error == (isApart ? nil : .overlapping(id: "coins100")))
        }
    }
}

@Suite struct `Stamps of a catalogue` {
    private func catalogue(_ stamps: Catalogue.Stamp...) throws(Catalogue.Invalid) -> Catalogue {
        try Catalogue(version: "1", bundleIDs: ["b"], products: [], stamps: stamps)
    }

    @Test func `cost what they cost at the instant`() throws {
        let catalogue = try catalogue(
            .init(id: "heart", coins: 30, validity: .init(from: nil, until: .noon)),
            .init(id: "heart", coins: 40, validity: .init(from: .noon, until: nil)))
        #expect(catalogue.price(of: "heart", at: "2026-11-30T11:59:59.999Z") == 30)
        #expect(catalogue.price(of: "heart", at: .noon) == 40)
        #expect(catalogue.price(of: "bouquet", at: .noon) == nil)
    }

    @Test func `cost something, at some time, and one thing at a time`() {
        #expect(throws: Catalogue.Invalid.worthNothing(id: "heart")) {
            try catalogue(.init(id: "heart", coins: 0))
        }
        #expect(throws: Catalogue.Invalid.neverValid(id: "heart")) {
            try catalogue(
                .init(id: "heart", coins: 1, validity: .init(from: .noon, until: .noon)))
        }
        #expect(throws: Catalogue.Invalid.overlapping(id: "heart")) {
            try catalogue(.init(id: "heart", coins: 1), .init(id: "heart", coins: 2))
        }
    }
}
