import CoinLedger
import CoinLedgerService
import EventStore
import LedgerTestSupport
import Testing

private let nobodysLane = Lane.of(.unclaimed, count: 2)

@Suite struct `A recorded order` {
    private let recorded = TestBatch(lane: nobodysLane, head: 0).order(
        "M1", .appStore("T1"), .appStore("T2", .sandbox)
    ).order("M2")

    @Test(arguments: StoreKind.allCases)
    func `is found by its name`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            try await store.append(recorded.batch)
            let found = try #require(try await store.order("M1"))
            #expect(found == recorded.batch.events[0])
            #expect(try await store.order("M2")?.id == EventID(lane: nobodysLane, position: 2))
            #expect(try await store.order("M3") == nil)
            var request = LoadRequest(lane: nobodysLane)
            request.orders = ["M2", "M3", "M1"]
            #expect(
                try await store.load(request).facts.orders == [
                    "M1": EventID(lane: nobodysLane, position: 1),
                    "M2": EventID(lane: nobodysLane, position: 2),
                ])
            try await expectSound(store)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `is recorded once`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            try await store.append(recorded.batch)
            try await expectRefused(
                recorded.next.order("M3").order("M1").batch, by: store, as: .claimed)
            #expect(try await store.order("M3") == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `is recorded once by writers that don't know of each other`(
        kind: StoreKind
    ) async throws {
        try await kind.withStore { (store, loop) async throws in
            let ledgers = [Ledger(store, loop), Ledger(store, loop)]
            let order = OrderRecorded(id: "M1", purchases: [.appStore("T1")])
            var results: [Outcome] = []
            for number in 0..<4 {
                results.append(
                    try await ledgers[number % 2].submit(
                        Command(
                            id: .numbered(UInt64(number)), account: .unclaimed, time: .noon,
                            action: .recordOrder(order))))
            }
            let event = EventID(lane: nobodysLane, position: 1)
            #expect(results[0].events == [event])
            for result in results.dropFirst() {
                #expect(result.rejection == .orderAlreadyRecorded(event))
            }
            try await expectSound(store)
        }
    }
}

@Suite struct `A recorded consent` {
    @Test(arguments: StoreKind.allCases)
    func `is part of the account, with and without its lots`(kind: StoreKind) async throws {
        try await kind.withStore { (store, _) async throws in
            let batch = TestBatch(head: 0).consent(true, of: "u1").give(5, to: "u3").consent(
                false, of: "u3")
            try await store.append(batch.batch)
            #expect(try await store.account("u1")?.consent == true)
            #expect(try await store.account("u3")?.consent == false)
            var request = LoadRequest(lane: 0)
            request.accountsWithoutLots = ["u1", "u3"]
            let accounts = try await store.load(request).accounts
            #expect(accounts["u1"]?.consent == true)
            #expect(accounts["u3"]?.consent == false)
            try await store.append(batch.next.consent(false, of: "u1").batch)
            #expect(try await store.account("u1")?.consent == false)
            try await expectSound(store)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `outlives what else happens to the account`(kind: StoreKind) async throws {
        try await kind.withStore { (store, loop) async throws in
            func consent(_ isGiven: Bool, _ number: UInt64) -> Command {
                Command(
                    id: .numbered(number), account: "u1", time: .noon,
                    action: .recordConsent(ConsentRecorded(isGiven: isGiven)))
            }
            #expect(try await Ledger(store, loop).submit(consent(true, 1)).isDone)
            // A writer that has to read the account first.
            let ledger = Ledger(store, loop)
            #expect(try await ledger.submit(.grant("T1", to: "u1", command: 2)).isDone)
            #expect(
                try await Ledger(store, loop).submit(consent(true, 3)).rejection
                    == .consentAlreadyRecorded)
            #expect(try await store.account("u1")?.consent == true)
            try await expectSound(store)
        }
    }
}
