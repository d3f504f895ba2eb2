import Base
import CoinLedger
import CoinLedgerService
import EventStore
import InMemoryEventStore
import LedgerTestSupport
import TestSupport
import Testing

@Suite struct `A look for a purchase` {
    private static let path = "/v1/support/purchases"

    @Test func `that nobody knows finds that it was never received`() async throws {
        try await TestApp.run { app in
            let purchase = try await app.missed("?transactionId=T1")
            #expect(purchase["status"] == "never_received")
            #expect(purchase["transactionId"] == "T1")
            #expect(purchase["nextStep"]?["code"] == "redeliver")
            for name in ["environment", "productId", "accountId", "purchasedAt", "refusal"] {
                #expect(purchase[name] == .null, "\(name)")
            }
            for name in ["events", "attempts", "notifications"] {
                #expect(purchase["evidence"]?[name] == [], "\(name)")
            }
        }
    }

    @Test func `that was granted shows its events, whichever account asks`() async throws {
        try await TestApp.run { app in
            try await app.buy("T1")
            for (query, status, step) in [
                ("", "granted", "show_history"), ("&accountId=u1", "granted", "show_history"),
                ("&accountId=u2", "granted_to_other_account", "ask_which_account"),
            ] {
                let purchase = try await app.missed("?transactionId=T1" + query)
                #expect(purchase["status"]?.string == status)
                #expect(purchase["nextStep"]?["code"]?.string == step)
                #expect(purchase["accountId"] == "u1")
                #expect(purchase["environment"] == "Production")
                #expect(purchase["productId"] == "coins100")
                #expect(purchase["purchasedAt"] == "2026-11-30T11:58:00.000Z")
                #expect(purchase.types == ["PurchaseRecorded", "CoinsGranted"])
            }
        }
    }

    @Test func `that another account has posted in vain is that account's question`() async throws {
        try await TestApp.run { app in
            try await app.buy("T1")
            try await app.fail("T1", of: "u2", code: "granted_to_other_account")
            let purchase = try await app.missed("?transactionId=T1")
            #expect(purchase["status"] == "granted_to_other_account")
            #expect(purchase["accountId"] == "u1")
            #expect(purchase["evidence"]?["attempts"]?.array?.first?["accountId"] == "u2")
            let found = try await app.missed("?accountId=u2&date=2026-11-30&zone=UTC")
            #expect(found["status"] == "granted_to_other_account")
            #expect(found["transactionId"] == "T1")
        }
    }

    @Test(arguments: [
        (100_000, "refunded", ["PurchaseRecorded", "CoinsGranted", "PurchaseRefunded"]),
        (40_000, "partly_refunded", ["PurchaseRecorded", "CoinsGranted", "PurchaseRefunded"]),
        (
            0, "granted",
            ["PurchaseRecorded", "CoinsGranted", "PurchaseRefunded", "RefundReversed"]
        ),
    ])
    func `that was refunded says how much of it`(
        percentage: Int64, status: String, events: [String]
    ) async throws {
        try await TestApp.run { app in
            try await app.buy("T1")
            try await app.buy("T2")
            _ = await app.refund("T2", 100_000, signed: 1)
            if percentage == 0 { _ = await app.refund("T1", 100_000, signed: 1) }
            _ = await app.refund("T1", percentage, signed: 2)
            let purchase = try await app.missed("?transactionId=T1")
            #expect(purchase["status"]?.string == status)
            #expect(purchase.types == events)
            if percentage > 0 { #expect(purchase["nextStep"]?["code"] == "explain_refund") }
        }
    }

    @Test func `that was refunded before it was posted says so`() async throws {
        try await TestApp.run { app in
            _ = await app.refund("T1", 100_000, signed: 1)
            let purchase = try await app.missed("?transactionId=T1")
            #expect(purchase["status"] == "refunded")
            #expect(purchase["accountId"] == .null)
            #expect(purchase.types == ["RefundRemembered"])
            // Its refund was reversed, and then nobody has posted it yet.
            _ = await app.refund("T1", 0, signed: 2)
            #expect(try await app.missed("?transactionId=T1")["status"] == "never_received")
        }
    }

    @Test func `of play money finds the sandbox, granted there or not`() async throws {
        try await TestApp.run { app in
            try await app.buy("T1", environment: .sandbox)
            try await app.fail("T2", of: "u1", code: "sandbox_refused", environment: .sandbox)
            for id in ["T1", "T2"] {
                let purchase = try await app.missed("?transactionId=\(id)")
                #expect(purchase["status"] == "sandbox")
                #expect(purchase["environment"] == "Sandbox")
                #expect(purchase["accountId"] == "u1")
                #expect(purchase["nextStep"]?["code"] == "explain_sandbox")
            }
        }
    }

    /// What a post was refused with, whether the store vouches for what it says, and what follows.
    static let refusals: [(code: String, isClaimed: Bool, status: String, step: String)] = [
        ("unknown_product", false, "rejected", "mend_catalogue"),
        ("belongs_to_other_account", false, "rejected", "ask_which_account"),
        ("wrong_app", false, "rejected", "explain_rejection"),
        ("not_consumable", false, "rejected", "explain_rejection"),
        ("not_purchased", false, "rejected", "explain_rejection"),
        ("quantity_out_of_range", false, "rejected", "explain_rejection"),
        ("balance_too_large", false, "rejected", "explain_rejection"),
        ("malformed_purchase", false, "rejected", "explain_rejection"),
        ("environment_refused", false, "rejected", "explain_rejection"),
        ("refunded", false, "refunded", "explain_refund"),
        ("bad_signature", true, "rejected", "redeliver"),
        ("store_unavailable", true, "waiting_for_store", "wait"),
        ("revocation_unknown", true, "waiting_for_store", "wait"),
    ]

    @Test(arguments: refusals)
    func `that was refused names the reason and the time`(
        code: String, isClaimed: Bool, status: String, step: String
    ) async throws {
        try await TestApp.run { app in
            try await app.fail("T1", of: "u1", code: code, isClaimed: isClaimed)
            try await app.fail("T1", of: "u1", code: code, isClaimed: isClaimed, at: 5000)
            let purchase = try await app.missed("?transactionId=T1")
            #expect(purchase["status"]?.string == status)
            #expect(purchase["nextStep"]?["code"]?.string == step)
            #expect(
                purchase["refusal"] == ["code": .string(code), "at": "2026-11-30T12:00:05.000Z"])
            #expect(purchase["accountId"] == "u1")
            #expect(purchase["productId"] == "coins100")
            let attempt = try #require(purchase["evidence"]?["attempts"]?.array?.first)
            #expect(attempt["attempts"] == 2)
            #expect(attempt["claimed"] == .bool(isClaimed))
            #expect(attempt["firstAt"] == "2026-11-30T12:00:00.000Z")
        }
    }

    @Test func `believes the store before anybody's claim, and the later before the earlier`()
        async throws
    {
        try await TestApp.run { app in
            func code() async throws -> JSON? {
                try await app.missed("?transactionId=T1")["refusal"]?["code"]
            }
            try await app.fail("T1", of: "u1", code: "bad_signature", isClaimed: true, at: 9000)
            #expect(try await code() == "bad_signature")
            try await app.fail("T1", of: "u1", code: "not_consumable")
            #expect(try await code() == "not_consumable")
            try await app.fail("T1", of: "u2", code: "unknown_product", at: 1000)
            #expect(try await code() == "unknown_product")
            try await app.end("T1", .dead("malformed_purchase"), at: 2000)
            #expect(try await code() == "malformed_purchase")
            try await app.buy("T1")
            #expect(try await app.missed("?transactionId=T1")["status"] == "granted")
        }
    }

    @Test func `that the store has told of says whose it may be`() async throws {
        try await TestApp.run { app in
            for (id, token, step) in [
                ("T1", true, "link_token"), ("T2", false, "redeliver_to_account"),
            ] as [(TransactionID, Bool, String)] {
                try await app.notify(id, hasToken: token)
                let pending = try await app.missed("?transactionId=\(id)")
                #expect(pending["status"] == "waiting_for_store")
                #expect(pending["nextStep"]?["code"] == "wait")
                try await app.end(id, .done(NotificationEnding.unclaimed))
                let purchase = try await app.missed("?transactionId=\(id)")
                #expect(purchase["status"] == "unclaimed")
                #expect(purchase["accountId"] == .null)
                #expect(purchase["productId"] == "coins100")
                #expect(purchase["nextStep"]?["code"]?.string == step)
                let told = try #require(purchase["evidence"]?["notifications"]?.array?.first)
                #expect(told["type"] == "ONE_TIME_CHARGE")
                #expect(told["outcome"] == "unclaimed")
            }
        }
    }

    @Test func `by account and day finds what was bought, posted or got around it`() async throws {
        try await TestApp.run { app in
            // Bought at 11:58 on 30 November in UTC, which is 20:58 in Tokyo.
            try await app.buy("T1")
            app.setTime("2026-12-24T12:00:00Z")
            try await app.buy("T2")
            try await app.fail("T3", of: "u1", code: "unknown_product")
            try await app.fail(nil, of: "u1", code: "malformed_receipt")
            try await app.fail("T4", of: "u1", code: "unknown_product", product: "coins500")
            try await app.fail("T5", of: "u2", code: "unknown_product")
            func found(_ query: String) async -> [String?] {
                let answer = await app.ask("GET", Self.path + "?accountId=u1&" + query)
                #expect(answer.status == 200)
                #expect(answer.json["truncated"] == false)
                return (answer.json["purchases"]?.array ?? []).map {
                    $0["transactionId"]?.string ?? $0["status"]?.string
                }
            }
            let all = ["rejected", "T1", "T2", "T3", "T4"]
            #expect(await found("date=2026-11-30&zone=Asia/Tokyo") == all)
            #expect(await found("date=2026-12-01&zone=UTC") == all)
            #expect(
                await found("date=2026-11-29&zone=UTC&productId=coins100") == [
                    "rejected", "T1", "T2", "T3",
                ])
            // Got there on Christmas Eve, whenever it was bought.
            #expect(await found("date=2026-12-25&zone=UTC") == ["T2"])
            for date in ["2026-11-28", "2026-12-02"] {
                #expect(await found("date=\(date)&zone=UTC") == ["never_received"])
            }
            // In Auckland it was the first of December already, and in Honolulu still the morning.
            #expect(await found("date=2026-11-29&zone=Pacific/Auckland") == ["never_received"])
            #expect(await found("date=2026-11-29&zone=Pacific/Honolulu") == all)
            let nothing = try await app.missed("?accountId=u9&date=2026-11-30&zone=UTC")
            #expect(nothing["status"] == "never_received")
            #expect(nothing["nextStep"]?["code"] == "ask_for_order_id")
            #expect(nothing["accountId"] == "u9")
        }
    }

    @Test func `cuts off what is too much, and says so`() async throws {
        try await TestApp.run { app in
            for number in 0..<25 {
                try await app.fail(
                    TransactionID(stringLiteral: "T\(number)"), of: "u1", code: "unknown_product")
                try await app.fail(
                    "X", of: AccountID(stringLiteral: "v\(number)"), code: "unknown_product")
            }
            let answer = await app.ask(
                "GET", Self.path + "?accountId=u1&date=2026-11-30&zone=UTC")
            #expect(answer.json["purchases"]?.array?.count == SupportReader.purchasesMax)
            #expect(answer.json["truncated"] == true)
            let evidence = try await app.missed("?transactionId=X")["evidence"]
            #expect(evidence?["attempts"]?.array?.count == SupportPurchase.Evidence.countMax)
            #expect(evidence?["truncated"] == true)
        }
    }

    @Test(arguments: [
        ("", "transactionId"), ("?transactionId=a%20b", "transactionId"),
        ("?orderId=", "orderId"), ("?transactionId=T1&orderId=M1", "orderId"),
        ("?transactionId=T1&date=2026-11-30", "date"), ("?orderId=M1&zone=UTC", "zone"),
        ("?transactionId=T1&productId=p", "productId"), ("?date=2026-11-30", "transactionId"),
        ("?accountId=u1", "zone"), ("?accountId=u1&zone=UTC", "date"),
        ("?accountId=u1&date=2026-11-30", "zone"),
        ("?accountId=u1&date=2026-11-30&zone=Tokio", "zone"),
        ("?accountId=u1&date=2026-11-30&zone=../../etc/passwd", "zone"),
        ("?accountId=u1&date=2026-02-30&zone=UTC", "date"),
        ("?accountId=u1&date=30.11.2026&zone=UTC", "date"), ("?account=u1", "account"),
    ])
    func `names what is wrong with it`(query: String, detail: String) async throws {
        try await TestApp.run { app in
            let answer = await app.ask("GET", Self.path + query)
            #expect(answer.status == 400)
            #expect(answer.code == "invalid_parameter")
            #expect(answer.json["detail"]?.string == detail)
        }
    }

    @Test func `is for the support desk alone`() async throws {
        try await TestApp.run { app in
            for scope in APIScope.allCases {
                let answers = [
                    await app.ask("GET", Self.path + "?transactionId=T1", scope: scope),
                    await app.ask("GET", "/v1/orders/M1", scope: scope),
                    await app.ask(
                        "POST", "/v1/transactions/T1/redelivery",
                        ["reason": "x", "ticketId": "S-1"], scope: scope),
                ]
                let isAllowed = scope == .support
                #expect(answers.map(\.status) == (isAllowed ? [200, 503, 503] : [403, 403, 403]))
            }
            let bad = await app.ask("GET", Self.path + "?accountId=%C3%A4", scope: .support)
            #expect(bad.code == "invalid_account_id")
        }
    }
}

extension JSON {
    /// The types of the events in the evidence.
    fileprivate var types: [String] {
        (self["evidence"]?["events"]?.array ?? []).compactMap { $0["type"]?.string }
    }
}

extension TestApp {
    /// The one purchase that the support desk finds.
    func missed(_ query: String) async throws -> JSON {
        let answer = await ask("GET", "/v1/support/purchases" + query)
        #expect(answer.status == 200)
        let purchases = answer.json["purchases"]?.array ?? []
        #expect(purchases.count == 1)
        return try #require(purchases.first)
    }

    /// Keeps an attempt, so many milliseconds after noon.
    func fail(
        _ id: TransactionID?, of account: AccountID, code: String,
        environment: Environment = .production, product: String = "coins100",
        isClaimed: Bool = false, at time: Int64 = 0
    ) async throws {
        let purchase = id.map {
            AttemptedPurchase(
                transactionID: $0, environment: environment, productID: product,
                purchasedAt: "2026-11-30T11:58:00Z")
        }
        try await store.record(
            FailedPost(
                account: account, isClaimed: isClaimed,
                receiptSHA256: Array(repeating: 1, count: 32), receipt: nil,
                time: .noon(plus: time), refusals: [.init(code: code, purchase: purchase)]))
    }

    /// The store tells of a purchase.
    func notify(_ id: TransactionID, hasToken: Bool = false) async throws {
        _ = try await store.record(
            ReceivedNotification(
                id: try notification(id), environment: .production, type: "ONE_TIME_CHARGE",
                subtype: nil, signedAt: .noon, receivedAt: .noon,
                transaction: NotifiedTransaction(
                    id: id, originalID: id, productID: "coins100",
                    appAccountToken: hasToken ? "6f9619ff-8b86-d011-b42d-00cf4fc964ff" : nil),
                signedPayload: []))
    }

    /// What became of it, so many milliseconds after noon.
    func end(
        _ id: TransactionID, _ ending: NotificationEnding, at time: Int64 = 0
    ) async throws {
        try await notify(id)
        try await store.end(try notification(id), ending, at: .noon(plus: time))
    }

    private func notification(_ id: TransactionID) throws -> NotificationID {
        let number = id.text.utf8.last ?? 0
        return try #require(NotificationID("00000000-0000-4000-8000-0000000000\(number)"))
    }

    /// The store's word on a refund of a production purchase.
    func refund(
        _ id: TransactionID, _ percentage: Int64, signed: Int64
    ) async -> HTTPAnswer {
        var body: [JSONObject.Member] = [
            .init("transactionId", .string(id.text)), .init("environment", "Production"),
            .init("signedDate", .integer(Timestamp.noon.milliseconds + signed)),
        ]
        switch percentage {
        case 0: body.append(.init("type", "reversed"))
        case 100_000: body.append(.init("type", "full"))
        default:
            body.append(.init("type", "prorated"))
            body.append(.init("percentage", .integer(percentage)))
        }
        return await ask("POST", "/v1/refunds", .object(JSONObject(body)))
    }
}
