import CoinLedger
import EventStore
import LedgerTestSupport
import Testing

private let nobodysLane = Lane.of(.unclaimed, count: 2)
/// An account in that lane and one in the other.
private let near: AccountID = nobodysLane == 0 ? "u1" : "u2"
private let far: AccountID = nobodysLane == 0 ? "u2" : "u1"

@Suite struct `A remembered refund` {
    @Test(arguments: StoreKind.allCases)
    func `is found by its purchase`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            try await store.append(remembered.batch)
            let expected = RememberedRefund(
                refund: RefundWord(
                    purchase: .appStore("T1"), percentage: 100_000, signedAt: .noon),
                event: EventID(lane: nobodysLane, position: 1))
            let claims = try await store.claims(on: [.appStore("T1"), .appStore("T2")])
            #expect(claims.granted == [:])
            #expect(claims.remembered == [.appStore("T1"): expected])
            let facts = try await store.load(purchases("T1", "T2")).facts
            #expect(facts.rememberedRefunds == [.appStore("T1"): expected])
            #expect(facts.claims == [:])
            #expect(try await store.account(.unclaimed)?.version == 1)
            try await expectSound(store)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `gives way to a later word`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            try await store.append(remembered.batch)
            let later = remembered.next.remember(
                "T1", percentage: 0, signedAt: "2026-12-01T00:00:00Z", after: remembered.lastEvent)
            try await store.append(later.batch)
            let kept = try await store.claims(on: [.appStore("T1")]).remembered[.appStore("T1")]
            #expect(kept?.event == EventID(lane: nobodysLane, position: 2))
            #expect(kept?.refund.percentage == 0)
            // The first word isn't there any more.
            try await expectRefused(
                later.next.remember("T1", after: remembered.lastEvent).batch, by: store,
                as: .claimed)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `is taken over by a grant, in whatever lane`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            try await store.append(remembered.batch)
            let grant = TestBatch(lane: Lane.of(far, count: 2), head: 0).grant(
                "T2", original: "T1", to: far
            ).changing { $0.takenOver[.appStore("T1")] = remembered.lastEvent }
            try await store.append(grant.batch)
            let claims = try await store.claims(on: [.appStore("T1"), .appStore("T2")])
            #expect(claims.remembered == [:])
            #expect(claims.granted[.appStore("T1")] == claims.granted[.appStore("T2")])
            #expect(claims.granted[.appStore("T1")]?.account == far)
            // Nobody can remember or grant it now.
            try await expectRefused(
                remembered.next.remember("T1").batch, by: store, as: .claimed)
            try await expectRefused(
                remembered.next.remember("T1", after: remembered.lastEvent).batch, by: store,
                as: .claimed)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `that a grant doesn't know of refuses it`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            try await store.append(remembered.batch)
            let lane = Lane.of(far, count: 2)
            let grant = TestBatch(lane: lane, head: 0).grant("T0", to: far).grant("T1", to: far)
            try await expectRefused(grant.batch, by: store, as: .claimed)
            let wrong = grant.changing {
                $0.takenOver[.appStore("T1")] = EventID(lane: nobodysLane, position: 2)
            }
            try await expectRefused(wrong.batch, by: store, as: .claimed)
            // What isn't remembered at all can't be taken over.
            let missing = TestBatch(lane: lane, head: 0).grant("T3", to: far).changing {
                $0.takenOver[.appStore("T3")] = remembered.lastEvent
            }
            try await expectRefused(missing.batch, by: store, as: .claimed)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `may be taken over by the batch that remembers it`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            let batch = remembered.grant("T1", to: near).changing {
                $0.remembered[.appStore("T1")] = nil
            }
            try await store.append(batch.batch)
            let claims = try await store.claims(on: [.appStore("T1")])
            #expect(claims.granted[.appStore("T1")]?.grant == batch.lastEvent)
            #expect(claims.remembered == [:])
        }
    }

    private let remembered = TestBatch(lane: nobodysLane, head: 0).remember("T1")

    private func purchases(_ ids: TransactionID...) -> LoadRequest {
        var request = LoadRequest(lane: nobodysLane)
        request.purchases = ids.map { .appStore($0) }
        return request
    }
}

@Suite struct `A reversed spend` {
    @Test(arguments: StoreKind.allCases)
    func `is reversed once`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            let spent = TestBatch(head: 0).give(10, to: "u1").spend([.free(1, 4)], of: "u1")
                .spend([.free(1, 1)], of: "u1")
            try await store.append(spent.batch)
            let (first, second) = (
                EventID(lane: 0, position: 2), EventID(lane: 0, position: 3)
            )
            let lot = try #require(spent.lot(1, of: "u1"))
            let reversed = spent.next.reverse(
                first, returning: [Slice.free(1, 4).returned(to: lot)], of: "u1")
            try await store.append(reversed.batch)
            var request = LoadRequest(lane: 0)
            request.spends = [first, second, EventID(lane: 1, position: 2)]
            #expect(
                try await store.load(request).facts.reversals
                    == [first: EventID(lane: 0, position: 4)])
            let again = reversed.next.reverse(
                second, returning: [Slice.free(1, 1).returned(to: lot)], of: "u1"
            ).changing { $0.reversals[first] = EventID(lane: 0, position: 5) }
            try await expectRefused(again.batch, by: store, as: .claimed)
        }
    }
}

@Suite struct `A stored answer` {
    @Test(arguments: StoreKind.allCases)
    func `is given again, byte for byte`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            let (key, other) = (try self.key("u1", "k 1~!"), try self.key("u3", "k 1~!"))
            let longest = try self.key("u1", String(repeating: "k", count: 255))
            let batch = TestBatch(head: 0).give(1, to: "u1").answer(key, #"{"a":"\u0000ü"}"#)
                .answer(other, "").answer(longest, "x")
            try await store.append(batch.batch)
            #expect(
                try await answers(of: [key, other, longest, try self.key("u1", "k2")], in: store)
                    == batch.batch.answers)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `needs no event`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            let key = try self.key("u1", "k1")
            let batch = TestBatch(head: 0).answer(key, "no")
            try await store.append(batch.batch)
            #expect(try await store.heads() == [0: 0, 1: 0])
            #expect(try await answers(of: [key], in: store) == batch.batch.answers)
            // The head is a fence for it, too.
            try await expectRefused(
                TestBatch(head: 1).answer(try self.key("u1", "k2"), "no").batch, by: store,
                as: .conflict)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `is given once`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            let key = try self.key("u1", "k1")
            let first = TestBatch(head: 0).give(1, to: "u1").answer(key, "first")
            try await store.append(first.batch)
            let second = first.next.give(1, to: "u1").answer(key, "second")
            try await expectRefused(second.batch, by: store, as: .claimed)
            #expect(try await answers(of: [key], in: store) == first.batch.answers)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `is forgotten after its time, the oldest first`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            let keys = try (0..<4).map { try key("u1", "k\($0)") }
            let times: [Timestamp] = [
                "2026-11-03T00:00:00Z", "2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z",
                "2026-11-04T00:00:00Z",
            ]
            var batch = TestBatch(head: 0)
            for (key, time) in zip(keys, times) { batch = batch.answer(key, "x", at: time) }
            try await store.append(batch.batch)
            func forget(before time: Timestamp, _ limit: Int) async throws -> Int {
                try await store.forgetAnswers(recordedBefore: time, limit: limit)
            }
            func left() async throws -> Set<String> {
                Set(try await answers(of: keys, in: store).keys.map(\.text))
            }
            #expect(try await forget(before: "2026-11-01T00:00:00Z", 10) == 0)
            #expect(try await forget(before: "2026-11-04T00:00:00Z", 2) == 2)
            #expect(try await left() == ["k0", "k3"])
            #expect(try await forget(before: "2026-11-04T00:00:00Z", 2) == 1)
            #expect(try await left() == ["k3"])
            // Its key may be used again.
            try await store.append(batch.next.answer(keys[1], "new").batch)
            #expect(try await left() == ["k1", "k3"])
        }
    }

    private func key(_ account: AccountID, _ text: String) throws -> IdempotencyKey {
        try #require(IdempotencyKey(account: account, text: text))
    }

    private func answers(
        of keys: [IdempotencyKey], in store: any EventStore
    ) async throws -> [IdempotencyKey: StoredAnswer] {
        var request = LoadRequest(lane: 0)
        request.keys = keys
        return try await store.load(request).answers
    }
}

@Suite struct `A filter of events` {
    @Test(arguments: StoreKind.allCases)
    func `chooses by type and by time`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            // Events 1 to 6 of u1: recorded, granted, granted, spent, granted, linked.
            try await store.append(
                TestBatch(head: 0).grant("T1", to: "u1").give(
                    1, to: "u1", at: "2026-11-30T13:00:00Z"
                ).spend([.free(2, 1)], of: "u1").give(2, to: "u1", at: "2026-11-30T14:00:00Z")
                    .link(token, to: "u1").batch)
            func found(
                _ types: [String]?, from: Timestamp? = nil, until: Timestamp? = nil,
                after version: Int64 = 0, limit: Int = 10
            ) async throws -> [Int64] {
                var filter = EventFilter()
                (filter.types, filter.from, filter.until) = (types, from, until)
                return try await store.events(
                    of: "u1", after: version, limit: limit, where: filter
                ).map(\.version)
            }
            #expect(try await found(nil) == [1, 2, 3, 4, 5, 6])
            #expect(try await found([]) == [])
            #expect(try await found(["CoinsGranted"]) == [2, 3, 5])
            #expect(try await found(["CoinsGranted"], after: 2, limit: 1) == [3])
            #expect(try await found(["CoinsSpent", "AppAccountTokenLinked"]) == [4, 6])
            #expect(try await found(["CoinsGiven"]) == [])
            #expect(try await found(nil, from: "2026-11-30T13:00:00Z") == [3, 5])
            #expect(try await found(nil, until: "2026-11-30T13:00:00Z") == [1, 2, 4, 6])
            #expect(
                try await found(
                    ["CoinsGranted"], from: .noon, until: "2026-11-30T14:00:00Z") == [2, 3])
        }
    }
}
