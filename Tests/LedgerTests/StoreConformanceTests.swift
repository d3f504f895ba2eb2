import CoinLedger
import EventLoop
import EventStore
import LedgerTestSupport
import Testing

/// What every implementation of the store promises.
@Suite struct `An event store` {
    @Test(arguments: StoreKind.allCases)
    func `begins empty`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            let loaded = try await store.load(request(0, ["u1"], ["T1"], [token]))
            #expect(store.laneCount == 2)
            #expect(loaded.head == .start)
            #expect(loaded.accounts.isEmpty)
            #expect(loaded.facts == Facts())
            #expect(try await store.heads() == [0: 0, 1: 0])
            #expect(loaded.answers.isEmpty)
            #expect(try await store.account("u1") == nil)
            #expect(try await store.balances(of: ["u1"], at: .noon).isEmpty)
            #expect(try await store.events(of: "u1", after: 0, limit: 10, where: .all).isEmpty)
            #expect(try await store.event(EventID(lane: 0, position: 1)) == nil)
            #expect(try await store.claims(on: [.appStore("T1")]) == PurchaseClaims())
            #expect(try await store.lots(of: "u1").isEmpty)
            #expect(try await store.lots(in: 0, after: nil, limit: 10).isEmpty)
            #expect(
                try await store.accountsWithExpiredLots(in: 0, at: .noon, limit: 10).isEmpty)
            #expect(try await store.forgetAnswers(recordedBefore: .noon, limit: 10) == 0)
            #expect(try await store.events(in: 0, after: 0, limit: 10).isEmpty)
            #expect(try await store.accounts(in: 0, after: nil, limit: 10).isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `gives back what was appended, byte for byte`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            let batch = TestBatch(head: 0).grant("T1", to: "u1", paid: 500, free: 50).link(
                token, to: "u3"
            ).batch
            try await store.append(batch)
            #expect(try await store.events(in: 0, after: 0, limit: 10) == batch.events)
            #expect(try await store.heads() == [0: 3, 1: 0])
            let loaded = try await store.load(
                request(0, ["u1", "u3", "u9"], ["T1", "T2"], [token, otherToken]))
            #expect(loaded.head == LaneHead(position: 3, batch: 0))
            #expect(
                loaded.accounts == [
                    "u1": Account(
                        version: 2,
                        production: Purse(
                            openLots: [
                                OpenLot(Lot(number: 1, kind: .paid, coins: 500)),
                                OpenLot(Lot(number: 2, kind: .free, coins: 50)),
                            ], holds: [], refunds: [:]), sandbox: .empty, lotCount: 2),
                    "u3": Account(version: 1, production: .empty, sandbox: .empty, lotCount: 0),
                ])
            #expect(
                loaded.facts.claims == [
                    .appStore("T1"): PurchaseClaim(
                        account: "u1", command: .numbered(1),
                        grant: EventID(lane: 0, position: 2),
                        coins: GrantedCoins(paid: 500, free: 50))
                ])
            #expect(loaded.facts.tokenOwners == [token: "u3"])
            #expect(try await store.accounts(["u1", "u9"]) == ["u1": batch.account("u1")])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `keeps every instant and number there is`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            let event = StoredEvent(
                id: EventID(lane: 0, position: 1), account: "u1", version: 1,
                command: CommandID(high: .max, low: 0x8000_0000_0000_0001),
                occurredAt: "0001-01-01T00:00:00.001Z", recordedAt: "9999-12-31T23:59:59.999Z",
                type: "Anything", schemaVersion: .max, payload: [0, 255, 0x22])
            let lot = Lot(
                number: 3, kind: .free, coins: 9_007_199_254_740_991,
                expiresAt: "9999-12-31T23:59:59.999Z",
                price: StatedPrice(milliunits: .min, currency: "¤"))
            let open = OpenLot(lot, openedAt: 2, remaining: 1, valueOut: .max)
            let account = Account(
                version: 2, production: .empty,
                sandbox: Purse(openLots: [open], holds: [], refunds: [:]), lotCount: 3)
            let added = EventCodec.encode(
                .coinsAdjusted(
                    CoinsAdjusted(
                        environment: .sandbox, change: .added(lot), reason: "r",
                        ticketID: "\"#1")))
            let opening = StoredEvent(
                id: EventID(lane: 0, position: 2), account: "u1", version: 2,
                command: .numbered(1), occurredAt: "0001-01-01T00:00:00.001Z",
                recordedAt: "0001-01-01T00:00:00.001Z", type: added.type,
                schemaVersion: added.schemaVersion, payload: added.payload)
            let stored = StoredLot(
                account: "u1", environment: .sandbox, lot: lot, source: .support(ticketID: "\"#1"),
                grant: opening.id, grantedAt: opening.recordedAt, rest: LotRest(open))
            var batch = Batch(lane: 0, expectedHead: .start, number: 0)
            batch.events = [event, opening]
            batch.accounts = [
                ChangedAccount(
                    id: "u1", account: account, versionBefore: 0, lotCountBefore: 0,
                    changedLots: [
                        ChangedLot(
                            environment: .sandbox, lot: lot, openedAt: 2, rest: LotRest(open))
                    ])
            ]
            try await store.append(batch)
            #expect(
                try await store.events(of: "u1", after: 0, limit: 1, where: .all) == [event])
            #expect(try await store.event(event.id) == event)
            #expect(try await store.account("u1") == account)
            #expect(try await store.lots(of: "u1") == [stored])
            let balance = try await store.balances(of: ["u1"], at: .noon)["u1"]?.sandbox
            #expect(balance?.free == 1)
            #expect(balance?.nextExpiry == "9999-12-31T23:59:59.999Z")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `reads claims by all of their key`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            try await store.append(
                TestBatch(head: 0).grant("T1", to: "u1", environment: .sandbox).batch)
            var request = LoadRequest(lane: 0)
            request.purchases = [.appStore("T1"), .appStore("T1", .sandbox)]
            let claims = try await store.load(request).facts.claims
            #expect(claims[.appStore("T1")] == nil)
            #expect(claims[.appStore("T1", .sandbox)]?.account == "u1")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `finds a purchase under its original id, too`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            try await store.append(
                TestBatch(head: 0).grant("T2", original: "T1", to: "u1").batch)
            let claims = try await store.load(request(1, [], ["T1", "T2"], [])).facts.claims
            #expect(claims[.appStore("T1")] == claims[.appStore("T2")])
            #expect(claims[.appStore("T1")]?.grant == EventID(lane: 0, position: 2))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `pages through accounts in the order of their bytes`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            // All of these are in lane 0 of 2.
            let ids: [AccountID] = ["u1", "u3", "a", "player-1"]
            var batch = TestBatch(head: 0)
            for (index, id) in ids.enumerated() {
                let transaction = try #require(TransactionID("T\(index)"))
                batch = batch.grant(transaction, to: id)
            }
            try await store.append(batch.batch)
            let first = try await store.accounts(in: 0, after: nil, limit: 3)
            #expect(first.map(\.id) == ["a", "player-1", "u1"])
            let rest = try await store.accounts(in: 0, after: "u1", limit: 3)
            #expect(rest.map(\.id) == ["u3"])
            #expect(rest.map(\.account) == [batch.batch.account("u3")])
            #expect(try await store.accounts(in: 1, after: nil, limit: 3).isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `pages through events by position and by version`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            let batch = TestBatch(head: 0).grant("T1", to: "u1").grant("T2", to: "u3").grant(
                "T3", to: "u1"
            ).batch
            try await store.append(batch)
            func positions(after position: Int64, _ limit: Int) async throws -> [Int64] {
                try await store.events(in: 0, after: position, limit: limit).map(\.id.position)
            }
            #expect(try await positions(after: 0, 4) == [1, 2, 3, 4])
            #expect(try await positions(after: 4, 4) == [5, 6])
            #expect(try await positions(after: 6, 4) == [])
            #expect(try await positions(after: 1_000_000, 4) == [])
            let events = try await store.events(of: "u1", after: 1, limit: 2, where: .all)
            #expect(events.map(\.version) == [2, 3])
            #expect(events.map(\.id.position) == [2, 5])
        }
    }
}

@Suite struct `An append` {
    @Test(arguments: StoreKind.allCases, [-1, 1, 3] as [Int64])
    func `at another head conflicts and leaves nothing`(
        kind: StoreKind, offset: Int64
    ) async throws {
        try await kind.withStore { (store, _) async throws in
            try await store.append(TestBatch(head: 0).grant("T1", to: "u1").batch)
            try await expectRefused(
                TestBatch(head: 2 + offset).grant("T2", to: "u3").link(token, to: "u3").batch,
                by: store, as: .conflict)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `at the head of another batch conflicts, though it be at the same position`(
        kind: StoreKind
    ) async throws {
        try await kind.withStore { (store, _) async throws in
            try await store.append(
                TestBatch(after: .start, number: 7).grant("T1", to: "u1").batch)
            let other = TestBatch(after: LaneHead(position: 2, batch: 8), number: 9)
            try await expectRefused(
                other.grant("T2", to: "u3").batch, by: store, as: .conflict)
            let next = TestBatch(after: LaneHead(position: 2, batch: 7), number: 9)
            try await store.append(next.grant("T2", to: "u3").batch)
            let head = try await store.load(LoadRequest(lane: 0)).head
            #expect(head == LaneHead(position: 4, batch: 9))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `needn't wait for the one it follows`(kind: StoreKind) async throws {
        try await kind.withStore { (store, loop) async throws in
            let first = TestBatch(after: .start, number: 7).grant("T1", to: "u1")
            let second = TestBatch(after: first.batch.head, number: 8).grant("T2", to: "u3")
            let ends = await appendAtOnce([first.batch, second.batch], to: store, on: loop)
            #expect(ends == [nil, nil])
            #expect(try await store.heads()[0] == 4)
            try await expectSound(store)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `fails with the one it follows`(kind: StoreKind) async throws {
        try await kind.withStore { (store, loop) async throws in
            try await store.append(
                TestBatch(after: .start, number: 6).grant("T1", to: "u1").batch)
            let start = LaneHead(position: 2, batch: 6)
            let first = TestBatch(after: start, number: 7).grant("T1", to: "u3")
            let second = TestBatch(after: first.batch.head, number: 8).grant("T2", to: "a")
            let ends = await appendAtOnce([first.batch, second.batch], to: store, on: loop)
            #expect(ends == [.claimed, .conflict])
            #expect(try await store.heads()[0] == 2)
            try await expectSound(store)
        }
    }

    /// Returns what each of the calls has thrown, none of which waits for another's end.
    private func appendAtOnce(
        _ batches: [Batch], to store: any EventStore, on loop: EventLoop
    ) async -> [EventStoreError?] {
        let calls = batches.map { batch in
            Task.immediate(executorPreference: loop) {
                await storeFailure { () throws(EventStoreError) in
                    try await store.append(batch)
                }
            }
        }
        var ends: [EventStoreError?] = []
        for call in calls { ends.append(await call.value) }
        return ends
    }

    @Test(arguments: StoreKind.allCases)
    func `of a claimed purchase conflicts across lanes and leaves nothing`(
        kind: StoreKind
    ) async throws {
        try await kind.withStore { (store, _) async throws in
            try await store.append(TestBatch(head: 0).grant("T1", to: "u1").batch)
            // The first of its purchases is free.
            try await expectRefused(
                TestBatch(lane: 1, head: 0).grant("T0", to: "u2").grant("T1", to: "u4").batch,
                by: store, as: .claimed)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `of an original purchase conflicts, too`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            try await store.append(TestBatch(head: 0).grant("T1", to: "u1").batch)
            try await expectRefused(
                TestBatch(lane: 1, head: 0).grant("T2", original: "T1", to: "u2").batch,
                by: store, as: .claimed)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `of a linked token conflicts across lanes and leaves nothing`(
        kind: StoreKind
    ) async throws {
        try await kind.withStore { (store, _) async throws in
            try await store.append(TestBatch(head: 0).link(token, to: "u1").batch)
            try await expectRefused(
                TestBatch(lane: 1, head: 0).grant("T1", to: "u2").link(token, to: "u2").batch,
                by: store, as: .claimed)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `that goes on from the head is taken`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            let first = TestBatch(head: 0).grant("T1", to: "u1")
            try await store.append(first.batch)
            let second = first.next.grant("T2", to: "u1", paid: 1).grant("T3", to: "u3")
            try await store.append(second.batch)
            try await expectSound(store)
            #expect(try await store.heads() == [0: 6, 1: 0])
            #expect(try await store.accounts(["u1"])["u1"]?.production.paid == 101)
            let last = try await store.event(EventID(lane: 0, position: 6))
            #expect(last == second.batch.events.last)
        }
    }
}

/// Expects `batch` to be refused, and nothing of it to be there afterwards.
func expectRefused(
    _ batch: Batch, by store: any EventStore, as expected: EventStoreError,
    sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    var request = LoadRequest(lane: batch.lane)
    request.accounts = batch.accounts.map(\.id)
    request.purchases = Array(batch.claims.keys) + Array(batch.remembered.keys)
    request.tokens = Array(batch.tokenOwners.keys)
    request.spends = Array(batch.reversals.keys)
    request.lots = batch.accounts.flatMap { changed in
        changed.changedLots.map { LotID(account: changed.id, number: $0.lot.number) }
    }
    request.keys = Array(batch.answers.keys)
    let before = try await store.load(request)
    let events = try await allEvents(store)
    let failure = await storeFailure { () throws(EventStoreError) in
        try await store.append(batch)
    }
    #expect(failure == expected, sourceLocation: sourceLocation)
    let after = try await store.load(request)
    #expect(after.head == before.head, sourceLocation: sourceLocation)
    #expect(after.accounts == before.accounts, sourceLocation: sourceLocation)
    #expect(after.facts == before.facts, sourceLocation: sourceLocation)
    #expect(after.answers == before.answers, sourceLocation: sourceLocation)
    #expect(try await allEvents(store) == events, sourceLocation: sourceLocation)
    try await expectSound(store, sourceLocation: sourceLocation)
}

let token: AppAccountToken = "6f9619ff-8b86-d011-b42d-00cf4fc964ff"
let otherToken: AppAccountToken = "00000000-0000-4000-8000-000000000001"

private func request(
    _ lane: Lane, _ accounts: [AccountID], _ purchases: [TransactionID],
    _ tokens: [AppAccountToken]
) -> LoadRequest {
    var request = LoadRequest(lane: lane)
    request.accounts = accounts
    request.purchases = purchases.map { .appStore($0) }
    request.tokens = tokens
    return request
}
