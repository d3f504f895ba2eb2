import CoinLedger
import EventStore
import LedgerTestSupport
import Testing

/// u1 has bought 120 coins for 160 units and got 30 free ones with them (events 1, 2; lots 1, 2).
private let bought = TestBatch(head: 0).grant(
    "T1", to: "u1", paid: 120, free: 30, price: TestBatch.price,
    freeExpiresAt: "2026-12-01T00:00:00Z")

@Suite struct `A store's lots` {
    @Test(arguments: StoreKind.allCases)
    func `say where they came from`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            let added = Lot(number: 4, kind: .free, coins: 7)
            let batch = bought.give(10, to: "u1", campaign: "xmas").with(
                .coinsAdjusted(
                    CoinsAdjusted(
                        environment: .sandbox, change: .added(added), reason: "lost",
                        ticketID: "#1")), of: "u1", at: "2026-11-30T13:00:00Z"
            ).give(5, to: "u1")
            try await store.append(batch.batch)
            func stored(
                _ lot: Lot, _ source: StoredLot.Source, at position: Int64,
                _ environment: Environment = .production, _ time: Timestamp = .noon
            ) -> StoredLot {
                StoredLot(
                    account: "u1", environment: environment, lot: lot, source: source,
                    grant: EventID(lane: 0, position: position), grantedAt: time,
                    rest: LotRest(remaining: lot.coins, valueOut: 0))
            }
            let purchase = StoredLot.Source.purchase(.appStore("T1"))
            #expect(
                try await store.lots(of: "u1") == [
                    stored(
                        Lot(number: 1, kind: .paid, coins: 120, price: TestBatch.price), purchase,
                        at: 2),
                    stored(
                        Lot(
                            number: 2, kind: .free, coins: 30, expiresAt: "2026-12-01T00:00:00Z"),
                        purchase, at: 2),
                    stored(
                        Lot(number: 3, kind: .free, coins: 10), .gift(campaignID: "xmas"), at: 3),
                    stored(
                        added, .support(ticketID: "#1"), at: 4, .sandbox, "2026-11-30T13:00:00Z"),
                    stored(
                        Lot(number: 5, kind: .free, coins: 5), .gift(campaignID: nil), at: 5),
                ])
            try await expectSound(store)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `are drawn from, closed and opened again`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            try await store.append(bought.batch)
            // 160000 · 50 ÷ 120 = 66666.7
            let spent = bought.next.spend(
                [.free(2, 30), .paid(1, 50, value: 66_666)], of: "u1")
            try await store.append(spent.batch)
            #expect(
                try await store.lots(of: "u1").map(\.rest) == [
                    LotRest(remaining: 70, valueOut: 66_666), LotRest(remaining: 0, valueOut: 0),
                ])
            let open = try await store.lots(of: "u1", after: 0, limit: 9, openOnly: true)
            #expect(open.map(\.lot.number) == [1])
            #expect(try await store.account("u1") == spent.state(of: "u1"))
            #expect(try await store.account("u1")?.production.openLotCount == 1)

            let free = try #require(spent.lot(2, of: "u1"))
            let reversed = spent.next.reverse(
                spent.lastEvent, returning: [Slice.free(2, 30).returned(to: free)], of: "u1")
            try await store.append(reversed.batch)
            #expect(try await store.account("u1")?.production.openLot(2)?.remaining == 30)
            try await expectSound(store)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `may be closed, opened, and opened and closed again by one batch`(
        kind: StoreKind
    ) async throws {
        try await kind.withStore { (store, _) async throws in
            let first = bought.give(10, to: "u1").spend([.free(2, 30), .free(3, 10)], of: "u1")
            try await store.append(first.batch)
            let (second, third) = (
                try #require(first.lot(2, of: "u1")), try #require(first.lot(3, of: "u1"))
            )
            // Lot 1 is used up, lot 2 has coins again, and those given back to lot 3 are spent again.
            let mixed = first.next.reverse(
                first.lastEvent,
                returning: [
                    Slice.free(2, 30).returned(to: second), Slice.free(3, 10).returned(to: third),
                ], of: "u1"
            ).spend([.free(3, 10), .paid(1, 120, value: 160_000)], of: "u1")
            try await store.append(mixed.batch)
            #expect(
                try await store.lots(of: "u1").map(\.rest) == [
                    LotRest(remaining: 0, valueOut: 160_000),
                    LotRest(remaining: 30, valueOut: 0), LotRest(remaining: 0, valueOut: 0),
                ])
            #expect(try await store.account("u1") == mixed.state(of: "u1"))
            try await expectSound(store)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `may be opened and used up by one batch`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            let batch = bought.spend([.paid(1, 120, value: 160_000)], of: "u1")
            try await store.append(batch.batch)
            #expect(
                try await store.lots(of: "u1").first?.rest
                    == LotRest(remaining: 0, valueOut: 160_000))
            #expect(try await store.account("u1") == batch.state(of: "u1"))
            try await expectSound(store)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `are read one by one, used up or not`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            try await store.append(
                bought.spend([.free(2, 30)], of: "u1").give(1, to: "u3").spend(
                    [.free(1, 1)], of: "u3"
                ).batch)
            var request = LoadRequest(lane: 0)
            request.lots = [
                LotID(account: "u1", number: 2), LotID(account: "u3", number: 1),
                LotID(account: "u3", number: 2), LotID(account: "u9", number: 1),
            ]
            #expect(
                try await store.load(request).facts.lots == [
                    LotID(account: "u1", number: 2): Lot(
                        number: 2, kind: .free, coins: 30, expiresAt: "2026-12-01T00:00:00Z"),
                    LotID(account: "u3", number: 1): Lot(number: 1, kind: .free, coins: 1),
                ])
        }
    }

    /// PostgreSQL keeps the newest eight to fifteen in their account's row.
    @Test(arguments: StoreKind.allCases)
    func `are as many as there are, wherever they are kept`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            var batch = bought
            for _ in 3...14 { batch = batch.give(10, to: "u1") }
            try await store.append(batch.batch)
            // 1 is drawn from and 2 used up before they give way; 3 gives way as it is.
            batch = batch.next.spend([.free(2, 30), .paid(1, 50, value: 66_666)], of: "u1")
            for _ in 15...18 { batch = batch.give(10, to: "u1") }
            try await store.append(batch.batch)
            #expect(try await store.account("u1") == batch.state(of: "u1"))
            try await expectSound(store)
            // One each that has given way and that hasn't is drawn from, and used up.
            batch = batch.next.spend(
                [
                    .free(3, 10), .paid(1, 30, value: 40_000), .free(9, 10), .free(5, 4),
                    .free(10, 4),
                ], of: "u1")
            let spend = batch.lastEvent
            try await store.append(batch.batch)
            try await expectSound(store)
            // All of it comes back, to one that was used up twice.
            let returned = try [(3, 10), (9, 10), (5, 4), (10, 4)].map { (number, coins: Coins) in
                Slice.free(number, coins).returned(
                    to: try #require(batch.lot(number, of: "u1")))
            }
            batch = batch.next.reverse(spend, returning: returned, of: "u1")
                .spend([.free(9, 10)], of: "u1").give(1, to: "u1")
            try await store.append(batch.batch)
            #expect(try await store.account("u1") == batch.state(of: "u1"))
            #expect(try await store.lots(of: "u1") == batch.lots(of: "u1"))
            #expect(try await store.lots(in: 0, after: nil, limit: 99) == batch.lots(of: "u1"))
            var paged: [StoredLot] = []
            while true {
                let page = try await store.lots(in: 0, after: paged.last?.id, limit: 5)
                if page.isEmpty { break }
                paged += page
            }
            #expect(paged == batch.lots(of: "u1"))
            let open = try await store.lots(of: "u1", after: 3, limit: 3, openOnly: true)
            #expect(open.map(\.lot.number) == [4, 5, 6])
            try await expectSound(store)
        }
    }

    /// None of them is ever in its account's row.
    @Test(arguments: StoreKind.allCases)
    func `may be more than an account's row holds in one batch`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            var batch = TestBatch(head: 0)
            for coins in 1...40 { batch = batch.give(Coins(Int64(coins)) ?? 0, to: "u1") }
            batch = batch.spend([.free(1, 1), .free(19, 19), .free(20, 1)], of: "u1")
            let lot = try #require(batch.lot(1, of: "u1"))
            batch = batch.reverse(
                batch.lastEvent, returning: [Slice.free(1, 1).returned(to: lot)], of: "u1")
            try await store.append(batch.batch)
            #expect(try await store.account("u1") == batch.state(of: "u1"))
            #expect(
                try await store.lots(of: "u1", after: 0, limit: 99, openOnly: false)
                    == batch.lots(of: "u1"))
            try await expectSound(store)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `are paged by number, and by account within a lane`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            try await store.append(
                bought.give(1, to: "u1").give(1, to: "u3").give(1, to: "a").spend(
                    [.free(2, 30)], of: "u1"
                ).batch)
            try await store.append(TestBatch(lane: 1, head: 0).give(1, to: "u2").batch)
            func numbers(after number: Int64, openOnly: Bool) async throws -> [Int64] {
                try await store.lots(of: "u1", after: number, limit: 2, openOnly: openOnly)
                    .map(\.lot.number)
            }
            #expect(try await numbers(after: 0, openOnly: false) == [1, 2])
            #expect(try await numbers(after: 2, openOnly: false) == [3])
            #expect(try await numbers(after: 0, openOnly: true) == [1, 3])
            #expect(try await numbers(after: 3, openOnly: true) == [])
            func page(after last: LotID?) async throws -> [String] {
                try await store.lots(in: 0, after: last, limit: 3).map {
                    "\($0.account) \($0.lot.number)"
                }
            }
            #expect(try await page(after: nil) == ["a 1", "u1 1", "u1 2"])
            #expect(
                try await page(after: LotID(account: "u1", number: 2)) == ["u1 3", "u3 1"])
            #expect(try await page(after: LotID(account: "u3", number: 1)) == [])
            #expect(try await store.lots(in: 1, after: nil, limit: 3).map(\.account) == ["u2"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `are found once their time is over, as long as they are open`(
        kind: StoreKind
    ) async throws {
        try await kind.withStore { (store, _) async throws in
            let first = TestBatch(head: 0).give(1, to: "u3", expiresAt: "2026-12-02T00:00:00Z")
                .give(1, to: "u1", expiresAt: "2026-12-01T00:00:00Z")
                .give(1, to: "u1", expiresAt: "2026-12-03T00:00:00Z").give(1, to: "a")
            try await store.append(first.batch)
            try await store.append(
                TestBatch(lane: 1, head: 0).give(1, to: "u2", expiresAt: .noon).batch)
            func found(
                _ time: Timestamp, limit: Int = 10, in lane: Lane = 0
            ) async throws -> [AccountID] {
                try await store.accountsWithExpiredLots(in: lane, at: time, limit: limit)
            }
            #expect(try await found("2026-11-30T23:59:59.999Z") == [])
            #expect(try await found("2026-12-01T00:00:00.000Z") == ["u1"])
            #expect(try await found("2026-12-09T00:00:00.000Z") == ["u1", "u3"])
            #expect(try await found("2026-12-09T00:00:00.000Z", limit: 1) == ["u1"])
            #expect(try await found("2026-12-09T00:00:00.000Z", in: 1) == ["u2"])
            let expired = first.next.with(
                .coinsExpired(
                    CoinsExpired(environment: .production, slices: [.free(1, 1), .free(2, 1)])),
                of: "u1")
            try await store.append(expired.batch)
            #expect(try await found("2026-12-09T00:00:00.000Z") == ["u3"])
        }
    }
}

@Suite struct `A store's balances` {
    @Test(arguments: StoreKind.allCases)
    func `leave out what has expired, recorded or not`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            try await store.append(
                bought.give(5, to: "u1", expiresAt: "2026-12-02T00:00:00Z").give(1, to: "u3")
                    .batch)
            func balance(at time: Timestamp) async throws -> Balance? {
                try await store.balances(of: ["u1", "u3", "u9"], at: time)["u1"]?.production
            }
            func expected(free: Coins, _ nextExpiry: Timestamp?) -> Balance {
                Balance(paid: 120, free: free, held: 0, debt: 0, nextExpiry: nextExpiry)
            }
            #expect(
                try await balance(at: "2026-11-30T23:59:59.999Z")
                    == expected(free: 35, "2026-12-01T00:00:00Z"))
            #expect(
                try await balance(at: "2026-12-01T00:00:00Z")
                    == expected(free: 5, "2026-12-02T00:00:00Z"))
            #expect(try await balance(at: "2026-12-02T00:00:00Z") == expected(free: 0, nil))
            let all = try await store.balances(of: ["u1", "u3", "u9"], at: "2026-12-09T00:00:00Z")
            #expect(Set(all.keys) == ["u1", "u3"])
            #expect(all["u1"]?.version == 3)
            #expect(all["u3"]?.production.free == 1)
            #expect(all["u3"]?.sandbox == .zero)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `show holds until they expire`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            let held = bought.hold(
                [HeldSlice(lot: 1, coins: 20)], of: "u1", until: "2026-11-30T12:05:00Z")
            try await store.append(held.batch)
            func heldCoins(at time: Timestamp) async throws -> Coins? {
                try await store.balances(of: ["u1"], at: time)["u1"]?.production.held
            }
            #expect(try await heldCoins(at: "2026-11-30T12:04:59.999Z") == 20)
            #expect(try await heldCoins(at: "2026-11-30T12:05:00Z") == 0)
            let account = try await store.account("u1")
            #expect(account == held.state(of: "u1"))
            #expect(account?.production.holds.map(\.id) == [EventID(lane: 0, position: 3)])
            // Captured: the hold ends with the spend.
            let captured = held.next.spend(
                [.paid(1, 20, value: 26_666)], of: "u1", hold: held.lastEvent)
            try await store.append(captured.batch)
            #expect(try await heldCoins(at: .noon) == 0)
            #expect(try await store.account("u1")?.production.holds == [])
            try await expectSound(store)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `show debt, which refunds leave and new coins pay`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            let lot = try #require(bought.lot(1, of: "u1"))
            let taken = Slice.paid(1, 70, value: 93_334).returned(to: lot)
            let refunded = bought.spend([.paid(1, 50, value: 66_666)], of: "u1").refund(
                "T1", of: "u1", taken: [taken], debt: 50)
            try await store.append(refunded.batch)
            func balance() async throws -> Balance? {
                try await store.balances(of: ["u1"], at: .noon)["u1"]?.production
            }
            #expect(try await balance()?.debt == 50)
            #expect(try await balance()?.available == 0)
            #expect(try await store.account("u1") == refunded.state(of: "u1"))

            let given = refunded.next.give(60, to: "u1")
            let gift = try #require(given.lot(3, of: "u1"))
            let paid = given.with(
                .debtPaid(
                    DebtPaid(
                        purchase: .appStore("T1"),
                        taken: [Slice.free(3, 50).returned(to: gift)])), of: "u1")
            try await store.append(paid.batch)
            #expect(try await balance()?.debt == 0)
            #expect(try await balance()?.free == 40)
            let refund = try await store.account("u1")?.production.refunds[.appStore("T1")]
            #expect(refund?.taken.count == 2)
            try await expectSound(store)
        }
    }
}
