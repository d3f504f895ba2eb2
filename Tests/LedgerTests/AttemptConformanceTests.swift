import CoinLedger
import EventStore
import LedgerTestSupport
import TestSupport
import Testing

@Suite struct `A kept attempt` {
    @Test(arguments: StoreKind.allCases)
    func `is found by its transaction, the last one first, and claims after all`(kind: StoreKind)
        async throws
    {
        try await kind.withAttempts { store in
            try await store.record(post("u1", [.of("T1"), .of("T2", "not_consumable")]))
            try await store.record(post("u2", [.of("T1")], at: 1000))
            try await store.record(
                post("u3", [.of("T1", "bad_signature")], isClaimed: true, at: 2000))
            let found = try await store.attempts(of: "T1", limit: 10)
            #expect(found.map(\.account) == ["u2", "u1", "u3"])
            #expect(found.map(\.lastAt) == [.noon(plus: 1000), .noon, .noon(plus: 2000)])
            let first = found[1]
            #expect(first.refusal == .of("T1"))
            #expect(!first.isClaimed)
            #expect(first.receiptSHA256 == Array(repeating: 1, count: 32))
            #expect(!first.hasReceipt)
            #expect(first.count == 1)
            #expect(try await store.attempts(of: "T1", limit: 1).map(\.account) == ["u2"])
            #expect(try await store.attempts(of: "T3", limit: 10) == [])
            let other = try await store.attempts(of: "T2", limit: 10)
            #expect(other.map(\.code) == ["not_consumable"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `counts its repetitions, in whatever order they come`(kind: StoreKind) async throws {
        try await kind.withAttempts { store in
            for (time, hash): (Int64, UInt8) in [(5, 1), (9, 2), (2, 3)] {
                try await store.record(
                    post("u1", [.of("T1")], hash: hash, receipt: hash == 2 ? [7] : nil, at: time))
            }
            let kept = try #require(try await store.attempts(of: "T1", limit: 9).first)
            #expect(kept.count == 3)
            #expect(kept.firstAt == .noon(plus: 2))
            #expect(kept.lastAt == .noon(plus: 9))
            #expect(kept.receiptSHA256 == Array(repeating: 3, count: 32))
            #expect(kept.hasReceipt)
            // Another reason, account or environment is another attempt.
            try await store.record(post("u1", [.of("T1", "refunded")]))
            try await store.record(post("u2", [.of("T1")]))
            try await store.record(post("u1", [.of("T1", environment: .sandbox)]))
            try await store.record(post("u1", [.of("T1", environment: nil)]))
            #expect(
                try await store.attempts(of: "T1", limit: 9).map(\.count).sorted() == [
                    1, 1, 1, 1, 3,
                ])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `without a transaction is one for each receipt`(kind: StoreKind) async throws {
        try await kind.withAttempts { store in
            let unknown = FailedPost.Refusal(code: "store_unavailable", purchase: nil)
            for hash: UInt8 in [1, 2, 1] {
                try await store.record(post("u1", [unknown], hash: hash, isClaimed: true))
            }
            let found = try await store.attempts(of: "u1", where: .always, limit: 9)
            #expect(found.map(\.count).sorted() == [1, 2])
            #expect(found.allSatisfy { $0.isClaimed && $0.purchase == nil })
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `is found by account, time and product`(kind: StoreKind) async throws {
        try await kind.withAttempts { store in
            let day: Int64 = 86_400_000
            try await store.record(post("u1", [.of("T1")], at: 10 * day))
            try await store.record(post("u1", [.of("T2", product: "coins500")], at: 10 * day))
            try await store.record(
                post("u1", [.of("T3", bought: .noon(plus: 10 * day))], at: 300 * day))
            try await store.record(
                post("u1", [.of("T4", product: nil, bought: nil)], at: 9 * day))
            try await store.record(post("u2", [.of("T5")], at: 10 * day))
            // Made before and after, but not on the day itself.
            for time: Int64 in [1, 20] {
                try await store.record(post("u1", [.of("T6")], at: time * day))
            }
            try await store.record(post("u1", [.of("T7")], at: 11 * day))
            func found(_ product: String?, limit: Int = 9) async throws -> [String?] {
                let filter = AttemptFilter(
                    from: .noon(plus: 9 * day), until: .noon(plus: 11 * day), productID: product)
                return try await store.attempts(of: "u1", where: filter, limit: limit).map {
                    $0.purchase?.transactionID.text
                }
            }
            #expect(try await found(nil) == ["T3", "T6", "T1", "T2", "T4"])
            #expect(try await found("coins100") == ["T3", "T6", "T1", "T4"])
            #expect(try await found("coins500") == ["T2", "T4"])
            #expect(try await found(nil, limit: 2) == ["T3", "T6"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `gives way to later ones of its account, a claimed one first`(
        kind: StoreKind
    ) async throws {
        try await kind.withAttempts { store in
            try await store.record(post("u1", [.of("T1")], at: -5))
            try await store.record(post("u1", [.of("T2", "bad_signature")], isClaimed: true))
            try await store.record(post("u2", [.of("T3", "bad_signature")], isClaimed: true))
            for half in 0..<2 {
                let refusals = (0..<250).map { number in
                    FailedPost.Refusal.of(
                        TransactionID(stringLiteral: "N\(half * 250 + number)"), "bad_signature")
                }
                try await store.record(post("u1", refusals, isClaimed: true, at: 100))
            }
            #expect(
                try await store.attempts(of: "u1", where: .always, limit: 1000).count
                    == FailedPost.keptMax)
            #expect(try await store.attempts(of: "T1", limit: 9).count == 1)
            #expect(try await store.attempts(of: "T2", limit: 9).count == 0)
            #expect(try await store.attempts(of: "T3", limit: 9).count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `is forgotten after its time, the oldest first`(kind: StoreKind) async throws {
        try await kind.withAttempts { store in
            for (id, time): (TransactionID, Int64) in [("T1", 1), ("T2", 2), ("T3", 3)] {
                try await store.record(post("u1", [.of(id)], at: time))
            }
            try await store.record(post("u1", [.of("T1")], at: 9))
            func left() async throws -> [String?] {
                try await store.attempts(of: "u1", where: .always, limit: 9).map {
                    $0.purchase?.transactionID.text
                }
            }
            #expect(try await store.forgetAttempts(before: .noon(plus: 2), limit: 9) == 0)
            #expect(try await store.forgetAttempts(before: .noon(plus: 9), limit: 1) == 1)
            #expect(try await left() == ["T1", "T3"])
            #expect(try await store.forgetAttempts(before: .noon(plus: 9), limit: 9) == 1)
            #expect(try await left() == ["T1"])
        }
    }

    @Test func `of one receipt is kept once, and of a large one as many as allowed`() {
        let many = (0..<300).map {
            FailedPost.Refusal.of(TransactionID(stringLiteral: "T\($0 % 270)"))
        }
        let post = post("u1", many + [.of("T0")])
        #expect(post.refusals.count == FailedPost.refusalsMax)
        #expect(self.post("u1", [.of("T2"), .of("T1"), .of("T2")]).refusals.count == 2)
    }

    private func post(
        _ account: AccountID, _ refusals: [FailedPost.Refusal], hash: UInt8 = 1,
        receipt: [UInt8]? = nil, isClaimed: Bool = false, at time: Int64 = 0
    ) -> FailedPost {
        FailedPost(
            account: account, isClaimed: isClaimed,
            receiptSHA256: Array(repeating: hash, count: 32), receipt: receipt,
            time: .noon(plus: time), refusals: refusals)
    }
}

extension AttemptFilter {
    fileprivate static let always = AttemptFilter(
        from: .earliest, until: "9999-01-01T00:00:00Z", productID: nil)
}

extension FailedPost.Refusal {
    fileprivate static func of(
        _ id: TransactionID, _ code: String = "unknown_product",
        environment: Environment? = .production, product: String? = "coins100",
        bought: Timestamp? = "2020-01-01T00:00:00Z"
    ) -> FailedPost.Refusal {
        FailedPost.Refusal(
            code: code,
            purchase: AttemptedPurchase(
                transactionID: id, environment: environment, productID: product,
                purchasedAt: bought))
    }
}

extension StoreKind {
    fileprivate func withAttempts(
        _ body: @escaping @Sendable (any AttemptStore) async throws -> Void
    ) async throws {
        try await withStore { (store, _) async throws in
            try await body(try #require(store as? any AttemptStore))
        }
    }
}
