import AppStoreStandIn
import Base
import PrivatePostgres
import TestSupport
import Testing

private let token = "e4e0b18b-0000-4000-8000-00000000000a"

/// The rows of the flow's table that tell of notifications.
@Suite(.timeLimit(.minutes(15))) struct `The notification flow` {
    private func sell(_ world: World, token: String? = token) throws -> StandInSale {
        try world.shop.sell { $0.appAccountToken = token }
    }

    @Test func `row 28: a charge is granted to its token's owner, and a later post is a 409`()
        async throws
    {
        try await World.run { world throws in
            _ = try world.linkToken(token, to: "u1")
            let sale = try sell(world)
            let charge = try world.shop.store.notification(
                "ONE_TIME_CHARGE", of: sale.transactionID)
            #expect(try world.deliverAndSettle(charge) == "granted")
            #expect(try world.total() == 100)
            let answer = try world.post(sale)
            #expect((answer.status, answer.code) == (409, "already_granted"))
            #expect(answer.finish == [sale.transactionID: true])
            #expect(try world.total() == 100)
        }
    }

    @Test func `row 29: a charge of nobody known is unclaimed until a post is a 201`()
        async throws
    {
        try await World.run { world throws in
            let sale = try sell(world, token: nil)
            let charge = try world.shop.store.notification(
                "ONE_TIME_CHARGE", of: sale.transactionID)
            #expect(try world.deliverAndSettle(charge) == "unclaimed")
            #expect(try world.post(sale).status == 201)
            #expect(try world.total() == 100)
        }
    }

    @Test func `an unclaimed charge is granted once its token is linked`() async throws {
        try await World.run(services: 2) { world throws in
            let sale = try sell(world)
            let charge = try world.shop.store.notification(
                "ONE_TIME_CHARGE", of: sale.transactionID)
            #expect(try world.deliverAndSettle(charge) == "unclaimed")
            // By another service than the one that has taken it in.
            _ = try world.linkToken(token, to: "u1", port: world.services[1].port)
            #expect(try world.settledOutcome() == "granted")
            #expect(try world.total() == 100)
        }
    }

    @Test func `links and charges at the same time leave nothing unclaimed`() async throws {
        try await World.run(services: 2) { world throws in
            for round in 0..<20 {
                let token = "e4e0b18b-0000-4000-8000-0000000000\(10 + round)"
                let sale = try sell(world, token: token)
                let charge = try world.shop.store.notification(
                    "ONE_TIME_CHARGE", of: sale.transactionID)
                let answers = try askAtOnce([
                    (world.services[0].port, world.notifying(charge)),
                    (world.services[1].port, world.linking(token, to: "u1")),
                ])
                #expect(answers.map(\.status) == [200, 200])
            }
            #expect(try world.isSettled())
            let left = try world.ledger.rows(
                "SELECT number, outcome FROM coinledger.store_notifications WHERE outcome <> 'granted'"
            )
            #expect(left == [])
            #expect(try world.total() == 2000)
        }
    }

    @Test func `row 30: a post and a charge at the same time are one grant`() async throws {
        try await World.run(services: 2) { world throws in
            _ = try world.linkToken(token, to: "u1")
            for round in 1...20 {
                let sale = try sell(world)
                let charge = try world.shop.store.notification(
                    "ONE_TIME_CHARGE", of: sale.transactionID)
                let answers = try askAtOnce([
                    (world.services[0].port, world.notifying(charge)),
                    (world.services[1].port, world.posting(sale.signedTransaction, to: "u1")),
                ])
                #expect(answers[0].status == 200)
                #expect([201, 409].contains(answers[1].status))
                #expect(try world.isSettled())
                #expect(try world.total() == Int64(round) * 100)
            }
        }
    }

    @Test func `row 31: six duplicates at the same time are one notification`() async throws {
        try await World.run(services: 2) { world throws in
            _ = try world.linkToken(token, to: "u1")
            let sale = try sell(world)
            let charge = world.notifying(
                try world.shop.store.notification("ONE_TIME_CHARGE", of: sale.transactionID))
            let answers = try askAtOnce((0..<6).map { world.services[$0 % 2].port }, charge)
            #expect(answers.map(\.status) == Array(repeating: 200, count: 6))
            let outcomes = answers.compactMap { $0.json["outcome"]?.string }.sorted()
            #expect(outcomes == ["accepted"] + Array(repeating: "duplicate", count: 5))
            #expect(try world.settledOutcome() == "granted")
            #expect(
                try world.ledger.count("SELECT count(*) FROM coinledger.store_notifications") == 1)
            #expect(try world.total() == 100)
        }
    }

    @Test func `row 32: a charge after the post changes nothing`() async throws {
        try await World.run { world throws in
            _ = try world.linkToken(token, to: "u1")
            let sale = try sell(world)
            #expect(try world.post(sale).status == 201)
            let charge = try world.shop.store.notification(
                "ONE_TIME_CHARGE", of: sale.transactionID)
            #expect(try world.deliverAndSettle(charge) == "already_granted")
            #expect(try world.total() == 100)
        }
    }

    @Test func `rows 33 and 34: a full refund takes all, and what was spent is owed`()
        async throws
    {
        try await World.run { world throws in
            let unspent = try sell(world, token: nil)
            _ = try world.post(unspent)
            #expect(
                try world.deliverAndSettle(world.shop.store.refund(unspent.transactionID))
                    == "refunded")
            #expect(try world.total() == 0)
            let spent = try sell(world, token: nil)
            _ = try world.post(spent)
            _ = try world.command("spends", ["coins": 70, "purpose": "x"])
            #expect(
                try world.deliverAndSettle(world.shop.store.refund(spent.transactionID))
                    == "refunded")
            let balance = try world.balance()
            #expect(balance["debt"] == 70)
            #expect(balance["available"] == 0)
        }
    }

    @Test func `rows 35 and 36: a part is rounded, and only the difference is taken`()
        async throws
    {
        try await World.run { world throws in
            let id = try sell(world, token: nil)
            _ = try world.post(id)
            for (percentage, total) in [
                (33_500, 66), (33_500, 66), (50_000, 50), (100_000, 0),
            ] as [(Int64, Int64)] {
                let word = try world.shop.store.refund(id.transactionID, percentage: percentage)
                #expect(try world.deliverAndSettle(word) != nil)
                #expect(try world.total() == total)
            }
        }
    }

    @Test func `rows 37 and 38: a reversal gives back, and an older refund is late`()
        async throws
    {
        try await World.run { world throws in
            let sale = try sell(world, token: nil)
            _ = try world.post(sale)
            let now = Shop.now()
            let refund = try world.shop.store.refund(sale.transactionID)
            let late = try world.shop.store.notification("REFUND", of: sale.transactionID) {
                $0.signedDate = now + 1000
            }
            #expect(try world.deliverAndSettle(refund) == "refunded")
            _ = try world.shop.store.reverseRefund(sale.transactionID)
            let reversal = try world.shop.store.notification(
                "REFUND_REVERSED", of: sale.transactionID
            ) { $0.signedDate = now + 2000 }
            #expect(try world.deliverAndSettle(reversal) == "refund_reversed")
            #expect(try world.total() == 100)
            #expect(try world.deliverAndSettle(late) == "unchanged")
            #expect(try world.total() == 100)
        }
    }

    @Test func `rows 39 and 40: a refund before any post is remembered, and a post is a 409`()
        async throws
    {
        try await World.run { world throws in
            let sale = try sell(world, token: nil)
            #expect(
                try world.deliverAndSettle(world.shop.store.refund(sale.transactionID))
                    == "refund_remembered")
            let answer = try world.post(sale)
            #expect((answer.status, answer.code) == (409, "refunded"))
            #expect(answer.finish == [sale.transactionID: true])
            #expect(try world.total() == 0)
        }
    }

    @Test func `row 42: a declined refund, a test and news are kept and change nothing`()
        async throws
    {
        try await World.run { world throws in
            let sale = try sell(world, token: nil)
            _ = try world.post(sale)
            for (type, outcome) in [
                ("REFUND_DECLINED", "recorded"), ("TEST", "recorded"), ("DID_RENEW", "ignored"),
            ] {
                let word = try world.shop.store.notification(type, of: sale.transactionID)
                #expect(try world.deliverAndSettle(word) == outcome)
            }
            #expect(try world.total() == 100)
        }
    }

    @Test func `row 46: other apps are ignored, logged and answered 200`() async throws {
        try await World.run(options: ["--app-store-app-id", "1234567890"]) { world throws in
            let answer = try world.notify("TEST") { $0.fault = .wrongBundle }
            #expect(answer.status == 200)
            #expect(answer.json == ["outcome": "ignored"])
            let other = JSONObject([.init("appAppleId", 5)])
            #expect(try world.notify("TEST") { $0.data = other }.json == ["outcome": "ignored"])
            #expect(
                try world.ledger.count("SELECT count(*) FROM coinledger.store_notifications") == 0)
            #expect(
                world.services[0].output.contains("notification of another app ignored"))
            #expect(try world.notify("TEST").json == ["outcome": "accepted"])
            let metrics = try world.ask(HTTPQuestion("GET", "/metrics")).text
            #expect(
                metrics.contains(
                    #"coinledger_notifications_received_total{answer="ignored"} 2"#))
        }
    }

    @Test func `forgeries outside and inside are refused, and nothing is kept`() async throws {
        try await World.run { world throws in
            let sale = try sell(world, token: nil)
            for (fault, innerFault, code) in [
                (.wrongSignature, nil, "bad_signature"),
                (.chain(.foreignRoot), nil, "untrusted_chain"),
                (nil, .wrongSignature, "transaction_bad_signature"),
                (nil, .chain(.foreignRoot), "transaction_untrusted_chain"),
                (nil, .wrongBundle, "transaction_mismatch"),
            ] as [(PurchaseFault?, PurchaseFault?, String)] {
                let answer = try world.notify("ONE_TIME_CHARGE", of: sale.transactionID) {
                    ($0.fault, $0.innerFault) = (fault, innerFault)
                }
                #expect((answer.status, answer.code) == (400, code))
            }
            #expect(
                try world.ledger.count("SELECT count(*) FROM coinledger.store_notifications") == 0)
        }
    }

    @Test func `a body may have 256 KiB`() async throws {
        try await World.run { world throws in
            let size = 256 * 1024
            let frame = #"{"signedPayload":""}"#.utf8.count
            let largest = world.notifying(String(repeating: "x", count: size - frame))
            #expect(largest.body.count == size)
            #expect(try world.ask(largest).code == "signed_data_too_large")
            let larger = world.notifying(String(repeating: "x", count: size - frame + 1))
            #expect(try world.ask(larger).status == 413)
        }
    }

    @Test func `an unknown product waits for the catalogue, and the support desk's retry`()
        async throws
    {
        try await World.run { world throws in
            _ = try world.linkToken(token, to: "u1")
            let sale = try world.shop.sell("coins900") { $0.appAccountToken = token }
            let charge = try world.shop.store.notification(
                "ONE_TIME_CHARGE", of: sale.transactionID)
            #expect(try world.deliverAndSettle(charge) == "unknown_product")
            let dead = try world.support("GET", "?state=dead").json["notifications"]?.array ?? []
            #expect(dead.count == 1)
            #expect(dead.first?["outcome"] == "unknown_product")
            #expect(dead.first?["transactionId"]?.string == sale.transactionID)
            let id = try #require(dead.first?["notificationUuid"]?.string)
            #expect(try world.support("POST", "/\(id)/retry").status == 202)
            // Not mended yet.
            #expect(try world.settledOutcome() == "unknown_product")
            #expect(world.services[0].stop() == .code(0))
            let catalogue = """
                {"version": "test-2", "bundleIds": ["com.nonchalant"],
                 "products": [{"productId": "coins900", "paid": 900}]}
                """
            try write(catalogue, to: world.folder.path + "/catalogue.json")
            let mended = try world.startService()
            let retry = HTTPQuestion(
                "POST", "\(World.notificationPath)/\(id)/retry",
                headers: [("Authorization", "Bearer \(world.ledger.keys.support)")])
            #expect(try world.ask(retry, port: mended.port).status == 202)
            #expect(try world.settledOutcome() == "granted")
            #expect(mended.stop() == .code(0))
            #expect(
                try world.ledger.rows("SELECT paid FROM coinledger.accounts WHERE account = 'u1'")
                    == [["900"]])
        }
    }
}
