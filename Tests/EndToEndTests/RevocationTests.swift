import AppStoreStandIn
import Base
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct `Whether a certificate was revoked` {
    /// A world whose service asks the shop.
    private func run(
        _ mode: String, _ body: @escaping @Sendable (World) throws -> Void
    ) async throws {
        try await blocking {
            let shop = try Shop()
            try World.with(
                options: ["--ocsp", mode, "--ocsp-url", shop.url + "/ocsp"], storeAPI: true,
                shop: { shop }, body)
        }
    }

    @Test(arguments: ["soft", "hard"])
    func `is asked once for many receipts`(mode: String) async throws {
        try await run(mode) { world throws in
            let receipts = try (0..<5).map { _ in try world.shop.receipt(ReceiptForm()) }
            for receipt in receipts { #expect(try world.post(receipt).status == 201) }
            #expect(try world.post(world.shop.sell()).status == 201)
            // Nobody asks any more, so that nobody hears it.
            world.shop.setRevocation(.revoked)
            #expect(try world.post(world.shop.sell()).status == 201)
            #expect(try world.post(world.shop.receipt(ReceiptForm())).status == 201)
            let metrics = try world.get("/metrics").text
            #expect(
                metrics.contains(#"coinledger_revocation_checks_total{status="good"} 8"#), "\(mode)"
            )
        }
    }

    @Test(arguments: ["soft", "hard"])
    func `decides if it was`(mode: String) async throws {
        try await run(mode) { world throws in
            world.shop.setRevocation(.revoked)
            let sale = try world.shop.sell()
            for text in [sale.signedTransaction, sale.receipt] {
                let answer = try world.post(text)
                #expect(answer.status == 422)
                #expect(answer.code == "certificate_revoked")
                #expect(answer.isRetryable == false)
            }
            #expect(try world.total() == 0)
        }
    }

    @Test func `is a matter of another try, if it can't be asked and must be known`()
        async throws
    {
        try await run("hard") { world throws in
            world.shop.failVerification(
                .none, times: 4, delayMilliseconds: 30_000, endpoint: "ocsp")
            let sale = try world.shop.sell()
            let answer = try world.post(sale)
            #expect(answer.status == 503)
            #expect(answer.code == "revocation_unknown")
            #expect(answer.isRetryable == true)
            #expect(answer["Retry-After"] == "2")
            #expect(try world.total() == 0)
            world.shop.repair()
            world.shop.setRevocation(.unknown)
            let isUnknown = try eventually { () throws -> Bool? in
                let answer = try world.post(sale)
                #expect(answer.code == "revocation_unknown")
                return world.shop.pendingFaults == 0 ? true : nil
            }
            #expect(isUnknown == true)
            world.shop.setRevocation(.good)
            let granted = try eventually { () throws -> Int? in
                let answer = try world.post(sale)
                return answer.status == 503 ? nil : answer.status
            }
            #expect(granted == 201)
        }
    }

    @Test func `doesn't matter if it can't be asked and needn't be known`() async throws {
        try await run("soft") { world throws in
            world.shop.failVerification(.reset, times: 1000, endpoint: "ocsp")
            let sale = try world.shop.sell()
            #expect(try world.post(sale.receipt).status == 201)
            #expect(try world.post(sale).code == "already_granted")
            let metrics = try world.get("/metrics").text
            #expect(metrics.contains(#"coinledger_revocation_checks_total{status="unknown"} 2"#))
        }
    }

    @Test(arguments: ["soft", "hard"])
    func `decides on notifications, too`(mode: String) async throws {
        try await run(mode) { world throws in
            world.shop.setRevocation(.revoked)
            let sale = try world.shop.sell()
            let answer = try world.notify("ONE_TIME_CHARGE", of: sale.transactionID)
            #expect((answer.status, answer.code) == (400, "certificate_revoked"))
            #expect(try world.notificationCount() == 0)
        }
    }

    @Test func `is asked once for many notifications, when they come and not again`()
        async throws
    {
        try await run("hard") { world throws in
            #expect(try world.linkToken(Self.token, to: "u1").status == 200)
            for _ in 0..<3 {
                let sale = try world.shop.sell { $0.appAccountToken = Self.token }
                let charge = try world.shop.store.notification(
                    "ONE_TIME_CHARGE", of: sale.transactionID)
                #expect(try world.deliverAndSettle(charge) == "granted")
                // Nobody asks any more, so that nobody hears it.
                world.shop.setRevocation(.revoked)
                #expect(try world.deliver(charge).json["outcome"] == "duplicate")
            }
            #expect(try world.total() == 300)
            let metrics = try world.get("/metrics").text
            #expect(metrics.contains(#"coinledger_revocation_checks_total{status="good"} 6"#))
        }
    }

    @Test func `has the store send a notification again, if it must be known`() async throws {
        try await run("hard") { world throws in
            world.shop.setRevocation(.unknown)
            let sale = try world.shop.sell()
            let charge = try world.shop.store.notification(
                "ONE_TIME_CHARGE", of: sale.transactionID)
            let answer = try world.deliver(charge)
            #expect((answer.status, answer.code) == (503, "revocation_unknown"))
            #expect(try world.notificationCount() == 0)
            world.shop.setRevocation(.good)
            let accepted = try eventually { () throws -> Int? in
                let answer = try world.deliver(charge)
                return answer.status == 503 ? nil : answer.status
            }
            #expect(accepted == 200)
            #expect(try world.settledOutcome() == "unclaimed")
        }
    }

    @Test func `doesn't keep a notification out, if it needn't be known`() async throws {
        try await run("soft") { world throws in
            world.shop.setRevocation(.unknown)
            let sale = try world.shop.sell()
            #expect(try world.notify("ONE_TIME_CHARGE", of: sale.transactionID).status == 200)
        }
    }

    @Test(arguments: [
        ("soft", RevocationResponder.Answer.revoked, 422, "certificate_revoked"),
        ("hard", .revoked, 422, "certificate_revoked"),
        ("hard", .unknown, 503, "revocation_unknown"),
    ])
    func `decides on what the store answers the support desk`(
        mode: String, revocation: RevocationResponder.Answer, status: Int, code: String
    ) async throws {
        try await run(mode) { world throws in
            world.shop.setRevocation(revocation)
            let sale = try world.shop.sell { $0.orderID = "MVM9X1V8W2" }
            let redelivered = try world.redeliver(sale.transactionID, to: "u1")
            #expect((redelivered.status, redelivered.code) == (status, code))
            let order = try world.support("orders/MVM9X1V8W2")
            #expect((order.status, order.code) == (status, code))
            let search = try world.support("support/purchases?orderId=MVM9X1V8W2")
            #expect((search.status, search.code) == (status, code))
            #expect(try world.total() == 0)
        }
    }

    private static let token = "6f9619ff-8b86-d011-b42d-00cf4fc964ff"
}

extension World {
    fileprivate func notificationCount() throws -> Int {
        try ledger.count("SELECT count(*) FROM coinledger.store_notifications")
    }
}
