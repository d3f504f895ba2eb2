import CoinLedger
import LedgerTestSupport
import Testing

/// Six lots of ten coins each. Paid: 1 for 100, 2 for 300 until 13:00, 5 for 200. Free: 3 for ever,
/// 4 until 14:00, 6 until 12:30.
private let sixLots = History(
    .coinsGranted(
        CoinsGranted(
            environment: .production, source: .purchase(.appStore("T1")),
            lots: [
                .paid(1, 10, price: 100), .paid(2, 10, price: 300, until: .noon(plus: 3_600_000)),
                .free(3, 10), .free(4, 10, until: .noon(plus: 7_200_000)),
                .paid(5, 10, price: 200), .free(6, 10, until: .noon(plus: 1_800_000)),
            ])))

@Suite struct `The order of consumption` {
    @Test(arguments: [
        (ConsumptionOrder.freeFirst, [6, 4, 3, 1, 2, 5] as [Int64]),
        (.earliestExpiryFirst, [6, 2, 4, 1, 3, 5]),
        (.paidFirst, [1, 2, 5, 6, 4, 3]),
        (.highestUnitPriceFirst, [2, 5, 1, 6, 4, 3]),
    ])
    func `decides which of six lots is used first`(order: ConsumptionOrder, lots: [Int64]) throws {
        var history = sixLots
        var used: [Int64] = []
        for _ in lots { used += try history.spend(10, order).slices.map(\.lot) }
        #expect(used == lots)
        // All at once is the same.
        var other = sixLots
        let spent = try other.spend(60, order)
        #expect(spent.slices.map(\.lot) == lots)
        #expect(spent.slices.allSatisfy { $0.coins == 10 })
        #expect(other.balance() == .of())
    }

    @Test(
        arguments: [
            (
                ConsumptionOrder.freeFirst,
                [.free(6, 10), .free(4, 10), .free(3, 10), .paid(1, 5, value: 50)]
            ),
            (
                .earliestExpiryFirst,
                [.free(6, 10), .paid(2, 10, value: 300), .free(4, 10), .paid(1, 5, value: 50)]
            ),
            (
                .paidFirst,
                [
                    .paid(1, 10, value: 100), .paid(2, 10, value: 300), .paid(5, 10, value: 200),
                    .free(6, 5),
                ]
            ),
            (
                .highestUnitPriceFirst,
                [
                    .paid(2, 10, value: 300), .paid(5, 10, value: 200), .paid(1, 10, value: 100),
                    .free(6, 5),
                ]
            ),
        ] as [(ConsumptionOrder, [Slice])])
    func `is recorded slice by slice, with what each was worth`(
        order: ConsumptionOrder, slices: [Slice]
    ) throws {
        var history = sixLots
        #expect(
            try history.spend(35, order)
                == CoinsSpent(
                    environment: .production, coins: 35, purpose: .stamp, hold: nil, order: order,
                    policyVersion: "7", slices: slices))
    }

    @Test func `goes on in a lot that was begun`() throws {
        var history = sixLots
        try history.spend(4)
        #expect(try history.spend(9).slices == [.free(6, 6), .free(4, 3)])
        #expect(history.rest == [1: 10, 2: 10, 3: 10, 4: 7, 5: 10])
    }

    @Test func `passes over what has expired`() throws {
        var history = sixLots
        let spent = try history.spend(25, .earliestExpiryFirst, at: .noon(plus: 3_600_000))
        #expect(spent.slices.map(\.lot) == [4, 1, 3])
    }

    @Test func `compares prices by the coin, not by the lot`() throws {
        // 1000 for 100 coins is less a coin than 110 for 10; without a price it's nothing.
        var history = History(
            .coinsGranted(
                CoinsGranted(
                    environment: .production, source: .purchase(.appStore("T1")),
                    lots: [
                        .paid(1, 100, price: 1000), .paid(2, 10, price: 110), .free(3, 5),
                        .paid(4, 5, price: nil),
                    ])))
        let spent = try history.spend(120, .highestUnitPriceFirst)
        #expect(spent.slices.map(\.lot) == [2, 1, 4, 3])
    }

    @Test func `takes the older of two lots that are alike`() throws {
        for order in ConsumptionOrder.allCases {
            var history = History()
            try history.buy("T1")
            try history.buy("T2")
            try history.give(5)
            try history.give(5)
            let spent = try history.spend(210, order)
            let paid = spent.slices.filter { $0.kind == .paid }.map(\.lot)
            let free = spent.slices.filter { $0.kind == .free }.map(\.lot)
            #expect(paid == [1, 2], "\(order)")
            #expect(free == [3, 4], "\(order)")
        }
    }

    @Test func `changes nothing that was spent before`() throws {
        var history = sixLots
        let spent = try history.spend(10, .paidFirst)
        try history.spend(10, .freeFirst)
        guard case .coinsSpent(let recorded) = history.log[1].event else {
            Issue.record("the second event is no spend")
            return
        }
        #expect(recorded == spent)
        #expect(history.rest == [2: 10, 3: 10, 4: 10, 5: 10])
    }
}
