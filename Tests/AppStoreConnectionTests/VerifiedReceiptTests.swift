import AppStore
import AppStoreConnection
import Base
import Testing

@Suite struct `A verified receipt` {
    private func read(_ answer: JSON) async throws(VerifyReceiptError) -> VerifiedReceipt {
        try await ScriptedStore(answer).client().verify(receipt: "MII=")
    }

    private func receipt(_ members: [(String, JSON)], _ more: [(String, JSON)] = []) -> JSON {
        let receipt = JSONObject(members.map { .init($0.0, $0.1) })
        let answer: [(String, JSON)] = [("status", 0), ("receipt", .object(receipt))] + more
        return .object(JSONObject(answer.map { .init($0.0, $0.1) }))
    }

    @Test func `may hold several consumables, and gives each`() async throws {
        let receipt = try await read(
            answer([entry("T1"), entry("T2", product: "coins500"), entry("T3")]))
        #expect(receipt.transactions.map(\.transactionID) == ["T1", "T2", "T3"])
        #expect(receipt.transactions.map(\.productID) == ["coins100", "coins500", "coins100"])
    }

    @Test func `may hold none`() async throws {
        #expect(try await read(answer([])).transactions == [])
        #expect(try await read(receipt([("bundle_id", "a")])).transactions == [])
        let null = receipt([("bundle_id", "a"), ("in_app", nil), ("download_id", nil)])
        #expect(try await read(null).transactions == [])
    }

    @Test func `gives what it says twice once`() async throws {
        let twice = receipt(
            [("bundle_id", "a"), ("in_app", [entry("T1"), entry("T2"), entry("T1")])],
            [("latest_receipt_info", [entry("T2"), entry("T4")])])
        #expect(try await read(twice).transactions.map(\.transactionID) == ["T1", "T2", "T4"])
    }

    @Test func `keeps the copy that tells of a refund`() async throws {
        let revoked = entry("T1", [("cancellation_date_ms", "5"), ("cancellation_reason", "0")])
        for entries in [[entry("T1"), revoked], [revoked, entry("T1")]] {
            let transactions = try await read(answer(entries)).transactions
            #expect(transactions.count == 1)
            #expect(transactions.first?.revocation?.date == 5)
        }
    }

    @Test func `passes subscriptions over`() async throws {
        let subscription = entry("S1", [("expires_date_ms", "1796049240000")])
        let transactions = try await read(answer([subscription, entry("T1")])).transactions
        #expect(transactions.map(\.transactionID) == ["T1"])
    }

    @Test func `may be flat, as it was until iOS 6`() async throws {
        let flat = receipt([
            ("bid", "com.nonchalant"), ("bvrs", "1"), ("quantity", "2"),
            ("product_id", "coins100"), ("transaction_id", "33993399"),
            ("original_transaction_id", "33993399"), ("purchase_date_ms", "1342017600000"),
        ])
        let verified = try await read(flat)
        #expect(verified.bundleID == "com.nonchalant")
        #expect(verified.transactions.map(\.transactionID) == ["33993399"])
        #expect(verified.transactions.first?.quantity == 2)
    }

    // Written one by one, since the compiler can't work out the type of them all at once.
    private static let unknown: [(String, JSON)] = {
        func receipt(_ receipt: JSON) -> JSON { ["status": 0, "receipt": receipt] }
        func changed(_ name: String, _ value: JSON) -> JSON {
            answer([entry("T1", [(name, value)])])
        }
        var cases: [(String, JSON)] = []
        cases.append(("receipt", ["status": 0]))
        cases.append(("receipt", receipt([])))
        cases.append(("bundle_id", receipt(["in_app": []])))
        cases.append(("bundle_id", receipt(["bundle_id": 5])))
        cases.append(("in_app", receipt(["bundle_id": "a", "in_app": "x"])))
        cases.append(("in_app", receipt(["bundle_id": "a", "in_app": [5]])))
        cases.append(("bundleId", receipt(["bundle_id": "a b", "in_app": [entry("T1")]])))
        cases.append(("environment", answer([], environment: "Sandbox")))
        cases.append(("environment", answer([], environment: "Xcode")))
        cases.append(("receipt_type", receipt(["receipt_type": "ProductionSandbox"])))
        cases.append(("receipt_type", receipt(["receipt_type": "Xcode"])))
        cases.append(("quantity", changed("quantity", "0")))
        cases.append(("quantity", changed("quantity", "2147483648")))
        cases.append(("transaction_id", changed("transaction_id", "")))
        cases.append(("transactionId", answer([entry("T 1")])))
        cases.append(("purchase_date_ms", changed("purchase_date_ms", nil)))
        cases.append(("in_app", answer([JSON](repeating: entry("T1"), count: 10_001))))
        return cases
    }()

    @Test(arguments: unknown)
    func `in words we don't know is not understood`(field: String, answer: JSON) async {
        await #expect(throws: VerifyReceiptError.wrongShape(field: field)) {
            try await read(answer)
        }
    }

    @Test(arguments: ["Production", "ProductionVPP"])
    func `may come from volume purchases`(type: String) async throws {
        let answer = receipt([("bundle_id", "a"), ("receipt_type", .string(type))])
        #expect(try await read(answer).environment == .production)
        let sandbox = receipt([
            ("bundle_id", "a"),
            ("receipt_type", .string(type + "Sandbox")),
        ])
        let store = ScriptedStore(["status": 21007], sandbox)
        #expect(try await store.client().verify(receipt: "MII=").environment == .sandbox)
    }

    @Test func `is refused wherever the answer is cut off`() async {
        let bytes = answer([entry("T1"), entry("T2")]).bytes
        for end in bytes.indices {
            let store = ScriptedStore([.success(.init(status: 200, body: Array(bytes[..<end])))])
            await #expect(throws: VerifyReceiptError.unavailable(.notJSON)) {
                try await store.client { $0.attemptsMax = 1 }.verify(receipt: "MII=")
            }
        }
    }

    @Test func `never traps whichever byte of the answer is changed`() async {
        let bytes = answer([entry("T1"), entry("T2", [("quantity", 3)])]).bytes
        var state: UInt64 = 41
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        var accepted = 0
        for _ in 0..<10_000 {
            var changed = bytes
            changed[random(bytes.count)] ^= UInt8(1 + random(255))
            let store = ScriptedStore([.success(.init(status: 200, body: changed))])
            let client = store.client { $0.attemptsMax = 1 }
            guard let receipt = try? await client.verify(receipt: "MII=") else { continue }
            accepted += 1
            // Nobody signs the answer, so a changed letter may go unseen; but what comes out is
            // in its bounds.
            let transactions = receipt.transactions
            #expect(Set(transactions.map(\.transactionID)).count == transactions.count)
            #expect(transactions.allSatisfy { (1...Int64(Int32.max)).contains($0.quantity) })
        }
        #expect(accepted > 0 && accepted < 5000)
    }
}
