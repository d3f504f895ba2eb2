import CoinLedger
import EventLoop
import EventStore
import LedgerTestSupport
import Testing

/// What both stores promise of notifications.
@Suite struct `A store of notifications` {
    typealias Store = any EventStore & NotificationStore

    @Test(arguments: StoreKind.allCases)
    func `keeps one of a name, as it was received first`(kind: StoreKind) async throws {
        try await kind.withNotifications { (store) async throws in
            let first = received(1, signed: .noon, "T1", token: token)
            #expect(try await store.record(first))
            #expect(try await !store.record(received(1, signed: .noon(plus: 1), "T2")))
            let kept = try #require(try await store.notification(.numbered(1)))
            #expect(kept.received == first)
            #expect(kept.state == .pending)
            #expect(kept.attempts == 0)
            #expect(kept.nextAttemptAt == .noon)
            #expect(kept.outcome == nil)
            #expect(kept.detail == nil)
            #expect(kept.endedAt == nil)
            #expect(try await store.notification(.numbered(2)) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `keeps one without a transaction`(kind: StoreKind) async throws {
        try await kind.withNotifications { (store) async throws in
            let test = received(1, signed: .noon)
            #expect(try await store.record(test))
            #expect(try await store.notification(.numbered(1))?.received == test)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `hands out what is due, by the date of its signature, to one alone`(
        kind: StoreKind
    ) async throws {
        try await kind.withNotifications { (store) async throws in
            for (number, signed) in [(1, 30), (2, 10), (3, 20), (4, 40)] as [(Int, Int64)] {
                _ = try await store.record(received(number, signed: .noon(plus: signed), "T1"))
            }
            #expect(try await claim(store, at: .noon(plus: -1)) == [])
            #expect(try await claim(store, limit: 2) == [2, 3])
            #expect(try await claim(store) == [1, 4])
            #expect(try await claim(store) == [])
            let kept = try #require(try await store.notification(.numbered(2)))
            #expect(kept.attempts == 1)
            #expect(kept.nextAttemptAt == .noon(plus: 1000))
            // Whoever had taken them has died.
            #expect(try await claim(store, at: .noon(plus: 1000)) == [2, 3, 1, 4])
            #expect(try await store.notification(.numbered(2))?.attempts == 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `ends one once`(kind: StoreKind) async throws {
        try await kind.withNotifications { (store) async throws in
            _ = try await store.record(received(1, signed: .noon, "T1"))
            try await store.end(.numbered(1), .done("granted", detail: "{}"), at: .noon(plus: 5))
            try await store.end(.numbered(1), .dead("late"), at: .noon(plus: 6))
            let kept = try #require(try await store.notification(.numbered(1)))
            #expect(kept.state == .done)
            #expect(kept.outcome == "granted")
            #expect(kept.detail == "{}")
            #expect(kept.endedAt == .noon(plus: 5))
            #expect(try await claim(store, at: .noon(plus: 9_999_999)) == [])
            #expect(try await !store.endUnclaimed(.numbered(1), at: .noon))
            try await store.postpone(.numbered(1), until: .noon, detail: "x")
            #expect(try await store.notification(.numbered(1)) == kept)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `puts one off, and keeps what was noted`(kind: StoreKind) async throws {
        try await kind.withNotifications { (store) async throws in
            _ = try await store.record(received(1, signed: .noon, "T1"))
            try await store.postpone(.numbered(1), until: .noon(plus: 500), detail: #"{"a":1}"#)
            #expect(try await claim(store, at: .noon(plus: 499)) == [])
            try await store.postpone(.numbered(1), until: .noon(plus: 600), detail: nil)
            #expect(try await claim(store, at: .noon(plus: 599)) == [])
            #expect(try await claim(store, at: .noon(plus: 600)) == [1])
            #expect(try await store.notification(.numbered(1))?.detail == #"{"a":1}"#)
            try await store.end(.numbered(1), .done("sent"), at: .noon)
            #expect(try await store.notification(.numbered(1))?.detail == #"{"a":1}"#)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `has a dead one tried again, and no other`(kind: StoreKind) async throws {
        try await kind.withNotifications { (store) async throws in
            _ = try await store.record(received(1, signed: .noon, "T1"))
            #expect(try await claim(store) == [1])
            #expect(try await !store.retryDeadNotification(.numbered(1), at: .noon))
            #expect(try await !store.retryDeadNotification(.numbered(2), at: .noon))
            try await store.end(.numbered(1), .dead("unknown_product"), at: .noon)
            #expect(try await store.retryDeadNotification(.numbered(1), at: .noon(plus: 7)))
            #expect(try await !store.retryDeadNotification(.numbered(1), at: .noon(plus: 7)))
            let kept = try #require(try await store.notification(.numbered(1)))
            #expect(kept.state == .pending)
            #expect(kept.attempts == 0)
            #expect(kept.outcome == nil)
            #expect(kept.endedAt == nil)
            #expect(try await claim(store, at: .noon(plus: 7)) == [1])
            try await store.end(.numbered(1), .done("granted"), at: .noon)
            #expect(try await !store.retryDeadNotification(.numbered(1), at: .noon))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `has unclaimed ones tried again once their token is linked`(kind: StoreKind) async throws {
        try await kind.withNotifications { (store) async throws in
            for (number, token) in [(1, token), (2, token), (3, otherToken), (4, nil)] {
                _ = try await store.record(received(number, signed: .noon, "T1", token: token))
            }
            for number in [1, 3, 4] {
                #expect(try await store.endUnclaimed(.numbered(number), at: .noon(plus: 3)))
            }
            try await store.end(.numbered(2), .done("refused"), at: .noon)
            let kept = try #require(try await store.notification(.numbered(1)))
            #expect(kept.outcome == NotificationEnding.unclaimed)
            #expect(kept.state == .done)
            #expect(kept.endedAt == .noon(plus: 3))
            #expect(try await store.retryUnclaimedNotifications(of: token, at: .noon(plus: 4)) == 1)
            #expect(try await store.retryUnclaimedNotifications(of: token, at: .noon(plus: 4)) == 0)
            #expect(try await claim(store, at: .noon(plus: 4)) == [1])
            #expect(try await store.notification(.numbered(3))?.state == .done)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `leaves one pending whose token has been linked meanwhile`(kind: StoreKind) async throws {
        try await kind.withNotifications { (store) async throws in
            _ = try await store.record(received(1, signed: .noon, "T1", token: token))
            #expect(try await claim(store) == [1])
            #expect(try await store.owner(of: token) == nil)
            try await store.append(TestBatch(head: 0).link(token, to: "u1").batch)
            #expect(try await store.owner(of: token) == "u1")
            #expect(try await !store.endUnclaimed(.numbered(1), at: .noon(plus: 3)))
            #expect(try await claim(store, at: .noon(plus: 3)) == [1])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `lists them by state and by transaction, in the order of arrival`(
        kind: StoreKind
    ) async throws {
        try await kind.withNotifications { (store) async throws in
            for number in 1...5 {
                let transaction: TransactionID = number == 2 ? "T2" : "T1"
                _ = try await store.record(
                    received(number, signed: .noon(plus: Int64(-number)), transaction))
            }
            _ = try await store.record(received(6, signed: .noon, "T3", original: "T1"))
            for number in [1, 3, 5] {
                try await store.end(.numbered(number), .dead("x"), at: .noon)
            }
            let dead = try await store.notifications(in: .dead, after: 0, limit: 2)
            #expect(dead.map(\.id) == [.numbered(1), .numbered(3)])
            let rest = try await store.notifications(
                in: .dead, after: dead.last?.number ?? 0, limit: 9)
            #expect(rest.map(\.id) == [.numbered(5)])
            let pending = try await store.notifications(in: .pending, after: 0, limit: 9)
            #expect(pending.map(\.id) == [.numbered(2), .numbered(4), .numbered(6)])
            let about = try await store.notifications(of: "T1", limit: 9)
            #expect(about.map(\.id) == [1, 3, 4, 5, 6].map(NotificationID.numbered))
            #expect(try await store.notifications(of: "T1", limit: 2).count == 2)
            #expect(try await store.notifications(of: "T3", limit: 9).count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `forgets old ones that are done, and no others`(kind: StoreKind) async throws {
        try await kind.withNotifications { (store) async throws in
            for number in 1...6 {
                _ = try await store.record(received(number, signed: .noon, "T1"))
            }
            for (number, time) in [(1, 0), (2, 10), (3, 20)] as [(Int, Int64)] {
                try await store.end(.numbered(number), .done("granted"), at: .noon(plus: time))
            }
            try await store.end(.numbered(4), .dead("x"), at: .noon)
            #expect(try await store.endUnclaimed(.numbered(5), at: .noon))
            let time = Timestamp.noon(plus: 20)
            #expect(try await store.forgetNotifications(doneBefore: time, limit: 1) == 1)
            #expect(try await store.notification(.numbered(1)) == nil)
            #expect(try await store.forgetNotifications(doneBefore: time, limit: 9) == 1)
            #expect(try await store.forgetNotifications(doneBefore: time, limit: 9) == 0)
            for number in 3...6 { #expect(try await store.notification(.numbered(number)) != nil) }
        }
    }

    private func claim(
        _ store: Store, at time: Timestamp = .noon, limit: Int = 10
    ) async throws -> [Int] {
        let claimed = try await store.claimNotifications(
            due: time,
            leaseEnd: .noon(plus: time.milliseconds - Timestamp.noon.milliseconds + 1000),
            limit: limit)
        return claimed.map { kept in
            (1...9).first { NotificationID.numbered($0) == kept.id } ?? 0
        }
    }
}

private func received(
    _ number: Int, signed: Timestamp, _ transaction: TransactionID? = nil,
    original: TransactionID? = nil, token: AppAccountToken? = nil
) -> ReceivedNotification {
    ReceivedNotification(
        id: .numbered(number), environment: .production, type: "REFUND",
        subtype: number == 1 ? "X" : nil, signedAt: signed, receivedAt: .noon,
        transaction: transaction.map {
            NotifiedTransaction(
                id: $0, originalID: original ?? $0, productID: "coins100", appAccountToken: token)
        }, signedPayload: [UInt8(number), 0, 255])
}

extension NotificationID {
    static func numbered(_ number: Int) -> NotificationID {
        guard let id = NotificationID("00000000-0000-4000-8000-00000000000\(number)") else {
            preconditionFailure("a digit makes a UUID")
        }
        return id
    }
}

extension StoreKind {
    func withNotifications(
        _ body: @escaping @Sendable (any EventStore & NotificationStore) async throws -> Void
    ) async throws {
        try await withStore { (store, _) async throws in
            guard let store = store as? any EventStore & NotificationStore else {
                preconditionFailure("both stores keep notifications")
            }
            try await body(store)
        }
    }
}
