import AppStoreStandIn
import Base
import TestSupport
import Testing

/// App receipts that the store is asked about.
@Suite(.timeLimit(.minutes(15))) struct `An app receipt that the store is asked about` {
    @Test func `of the sandbox is granted there after production has sent it on`() async throws {
        try await World.run(options: World.remoteReceipts) { world throws in
            let sale = try world.shop.sell { $0.environment = "Sandbox" }
            let answer = try world.post(sale.receipt)
            #expect(answer.status == 201)
            #expect(answer.json["transactions"]?.array?.first?["environment"] == "Sandbox")
            #expect(answer.json["balance"]?["version"] == 2)
            #expect(answer.json["balance"]?["total"] == 0)
            #expect(
                answer.json["balance"]?["sandbox"] == [
                    "paid": 100, "free": 0, "total": 100, "available": 100, "held": 0, "debt": 0,
                    "nextExpiry": nil,
                ])
            // What was learnt of one receipt isn't applied to the next.
            #expect(try world.post(world.shop.sell().receipt).status == 201)
            #expect(try world.total() == 100)
        }
    }

    @Test func `is asked about again after a fault, and granted`() async throws {
        try await World.run(options: World.remoteReceipts) { world throws in
            let faults: [StandInFault.Effect] = [
                .status(500), .status(429), .html(200), .reset,
                .receiptStatus(21002, isRetryable: nil), .receiptStatus(21005, isRetryable: nil),
                .receiptStatus(21009, isRetryable: nil), .receiptStatus(21100, isRetryable: true),
                .receiptStatus(21199, isRetryable: nil),
            ]
            let questions = try faults.enumerated().map { index, fault in
                world.shop.failVerification(fault)
                let sale = try world.shop.sell { $0.device = "device-\(index)" }
                return (world.port, world.posting(sale.receipt, to: "u\(index)"))
            }
            #expect(try askAtOnce(questions).map(\.status) == [Int](repeating: 201, count: 9))
        }
    }

    @Test func `is answered 503 when the store stays away, and nothing is granted`() async throws {
        try await World.run(options: World.remoteReceipts) { world throws in
            for fault in [StandInFault.Effect.html(500), .reset] {
                world.shop.failVerification(fault, times: 1000)
                let sale = try world.shop.sell()
                // Two at once, which fail at the same time.
                let answers = try askAtOnce(
                    [world.port, world.port], world.posting(sale.receipt, to: "u1"))
                for answer in answers {
                    #expect(answer.status == 503, "\(fault)")
                    #expect(answer.code == "store_unavailable", "\(fault)")
                    #expect(answer.isRetryable == true, "\(fault)")
                    #expect(answer["Retry-After"] == "2", "\(fault)")
                }
                world.shop.repair()
            }
            #expect(try world.total() == 0)
            #expect(try world.post(world.shop.store.receipt()).status == 201)
            #expect(try world.total() == 200)
        }
    }

    @Test func `that the store calls none of its own is refused for good`() async throws {
        try await World.run(options: World.remoteReceipts) { world throws in
            let receipt = try world.shop.sell().receipt
            for status: Int64 in [21003, 21006, 21010] {
                world.shop.failVerification(.receiptStatus(status, isRetryable: nil))
                let answer = try world.post(receipt)
                #expect(answer.status == 422)
                #expect(answer.code == "rejected_by_store")
                #expect(answer.json["storeStatus"]?.integer == status)
                #expect(answer.isRetryable == false)
            }
            #expect(try world.total() == 0)
        }
    }

    @Test func `of another app is refused although the store confirms it`() async throws {
        try await World.run(options: World.remoteReceipts) { world throws in
            let sale = try world.shop.sell { $0.fault = .wrongBundle }
            let answer = try world.post(sale.receipt)
            #expect(answer.status == 422)
            #expect(answer.code == "wrong_app")
            #expect(answer.finish == [sale.transactionID: false])
            #expect(try world.total() == 0)
        }
    }

}

/// App receipts, as most services see them: verified here.
@Suite(.timeLimit(.minutes(15))) struct `An app receipt` {
    @Test func `with 76 columns and CR LF is read as it's meant`() async throws {
        try await World.run { world throws in
            var rest = try world.shop.sell().receipt[...]
            var lines: [Substring] = []
            while !rest.isEmpty {
                lines.append(rest.prefix(76))
                rest = rest.dropFirst(76)
            }
            #expect(lines.count > 10)
            #expect(try world.post(lines.joined(separator: "\r\n") + "\r\n").status == 201)
        }
    }

    @Test func `with a quantity of 3 grants three times the coins, and says so once`() async throws
    {
        try await World.run { world throws in
            let sale = try world.shop.sell("com.nonchalant.consumable1") { $0.quantity = 3 }
            let answer = try world.post(sale.receipt)
            #expect(
                answer.json["transactions"]?.array?.first?["coins"] == ["paid": 300, "free": 30])
            let again = try world.post(sale)
            #expect(again.status == 409)
            #expect(
                again.json["transactions"]?.array?.first?["coins"] == ["paid": 300, "free": 30])
        }
    }

    @Test func `that repeats a finished purchase under another id is not granted again`()
        async throws
    {
        try await World.run { world throws in
            let first = try world.shop.sell()
            #expect(try world.post(first).status == 201)
            let restored = try world.shop.sell { $0.originalTransactionID = first.transactionID }
            for text in [restored.receipt, restored.signedTransaction] {
                let answer = try world.post(text)
                #expect(answer.status == 409)
                #expect(answer.outcomes[restored.transactionID] == "already_granted")
                #expect(answer.finish[restored.transactionID] == true)
            }
            #expect(try world.total() == 100)
            // Nor the other way round.
            let anew = try world.shop.sell { $0.originalTransactionID = "77" }
            #expect(try world.post(anew).status == 201)
            let original = try world.shop.sell { $0.transactionID = "77" }
            #expect(try world.post(original).status == 409)
            #expect(try world.total() == 200)
        }
    }

    @Test func `is overwritten by the next purchase, and both are granted`() async throws {
        try await World.run { world throws in
            let first = try world.shop.sell("com.nonchalant.consumable1") {
                $0.transactionID = "1000000551439498"
            }
            #expect(try world.post(first.receipt).outcomes == ["1000000551439498": "granted"])
            try world.shop.store.finish(first.transactionID)
            let second = try world.shop.sell("com.nonchalant.consumable1") {
                $0.transactionID = "1000000556349963"
            }
            #expect(try world.post(second.receipt).outcomes == ["1000000556349963": "granted"])
            #expect(try world.total() == 220)
        }
    }

    @Test func `of more than 105,472 characters is granted as a whole`() async throws {
        try await World.run { world throws in
            for _ in 0..<205 { _ = try world.shop.sell("com.nonchalant.consumable1") }
            let receipt = world.shop.store.receipt()
            #expect(receipt.utf8.count >= 105_472)
            let answer = try world.post(receipt)
            #expect(answer.status == 201)
            #expect(answer.outcomes.values.filter { $0 == "granted" }.count == 205)
            #expect(try world.total() == 22_550)
        }
    }

    @Test(
        arguments: [
            ["TZ": "Asia/Tokyo", "LANG": "ja_JP.UTF-8", "LC_ALL": "ja_JP.UTF-8"], ["TZ": "UTC"],
        ], [[], World.remoteReceipts])
    func `means the same instant whatever the service's zone and language`(
        environment: [String: String], options: [String]
    ) async throws {
        try await World.run(options: options, environment: environment) { world throws in
            let sale = try world.shop.sell()
            let before = Shop.now()
            #expect(try world.post(sale.receipt).status == 201)
            let milliseconds = try world.ledger.count(
                """
                SELECT (extract(epoch FROM occurred_at) * 1000)::bigint FROM coinledger.events
                WHERE type = 'PurchaseRecorded'
                """)
            #expect((before - 60_000...before).contains(Int64(milliseconds)))
            #expect(
                try world.ledger.count(
                    """
                    SELECT count(*) FROM coinledger.events_as_json
                    WHERE (payload->>'purchasedAt')::timestamptz = occurred_at
                    """) == 1)
        }
    }
}
