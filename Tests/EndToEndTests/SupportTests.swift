import AppStoreStandIn
import Base
import TestSupport
import Testing

/// Everything that can have become of a purchase, on the service itself with a store that sells,
/// tells and answers.
@Suite(.timeLimit(.minutes(15))) struct `The support desk` {
    private static let token = "6f9619ff-8b86-d011-b42d-00cf4fc964ff"

    @Test func `finds what was never received, fetches it, and grants it once`() async throws {
        try await World.run(storeAPI: true) { world throws in
            let sale = try world.shop.sell()
            let before = try world.missed("transactionId=\(sale.transactionID)")
            #expect(before.status == "never_received")
            #expect(before.step == "redeliver")
            let redelivered = try world.redeliver(sale.transactionID, to: "u1")
            #expect(redelivered.status == 201)
            #expect(redelivered.outcomes == [sale.transactionID: "granted"])
            #expect(redelivered.json["balance"]?["paid"] == 100)
            #expect(try world.redeliver(sale.transactionID, to: "u1").code == "already_granted")
            #expect(try world.post(sale).code == "already_granted")
            #expect(try world.total() == 100)
            let after = try world.missed("transactionId=\(sale.transactionID)")
            #expect(after.status == "granted")
            #expect(after.step == "show_history")
            #expect(
                after.json["evidence"]?["events"]?.array?.first?["data"]?["redelivery"]
                    == ["reason": "finished too early", "ticketId": "S-7"])
        }
    }

    @Test func `redelivers to the owner of the token, from either environment`() async throws {
        try await World.run(storeAPI: true) { world throws in
            #expect(try world.linkToken(Self.token, to: "u1").status == 200)
            for environment in ["Production", "Sandbox"] {
                let sale = try world.shop.sell {
                    $0.appAccountToken = Self.token
                    $0.environment = environment
                }
                // Not to somebody else, though the desk says so.
                let wrong = try world.redeliver(sale.transactionID, to: "u2")
                #expect(wrong.code == "belongs_to_other_account")
                let right = try world.redeliver(sale.transactionID, to: nil)
                #expect(right.status == 201)
                #expect(right.json["accountId"] == "u1")
            }
            #expect(try world.balance()["total"] == 100)
            #expect(try world.balance()["sandbox"]?["total"] == 100)
            // One that nobody owns needs an account.
            let nobodys = try world.shop.sell()
            let answer = try world.redeliver(nobodys.transactionID, to: nil)
            #expect(answer.status == 422)
            #expect(answer.code == "owner_unknown")
            #expect(try world.redeliver("9", to: "u1").code == "transaction_not_found")
        }
    }

    @Test func `doesn't redeliver what isn't worth coins`() async throws {
        try await World.run(storeAPI: true) { world throws in
            let unknown = try world.shop.sell("coins1000")
            #expect(try world.redeliver(unknown.transactionID, to: "u1").code == "unknown_product")
            let refunded = try world.shop.sell()
            try world.shop.store.refund(refunded.transactionID)
            #expect(try world.redeliver(refunded.transactionID, to: "u1").code == "refunded")
            #expect(try world.total() == 0)
        }
    }

    @Test func `finds what was rejected, with the reason and the time`() async throws {
        try await World.run { world throws in
            let unknown = try world.shop.sell("coins1000")
            for _ in 0..<3 { #expect(try world.post(unknown).code == "unknown_product") }
            let found = try world.missed("transactionId=\(unknown.transactionID)")
            #expect(found.status == "rejected")
            #expect(found.step == "mend_catalogue")
            #expect(found.json["refusal"]?["code"] == "unknown_product")
            #expect(found.json["accountId"] == "u1")
            #expect(found.json["productId"] == "coins1000")
            #expect(found.attempts.first?["attempts"] == 3)
            #expect(found.attempts.first?["claimed"] == false)
            let forged = try world.shop.sell { $0.fault = .wrongSignature }
            #expect(try world.post(forged, to: "u2").status == 422)
            let claimed = try world.missed("transactionId=\(forged.transactionID)")
            #expect(claimed.status == "rejected")
            #expect(claimed.step == "redeliver")
            #expect(claimed.json["refusal"]?["code"] == "bad_signature")
            #expect(claimed.attempts.first?["claimed"] == true)
            #expect(try world.post("eA", to: "u3").status == 400)
            let shapeless = try world.missed("accountId=u3&date=\(world.today)&zone=UTC")
            #expect(shapeless.status == "rejected")
            #expect(shapeless.step == "ask_for_order_id")
            #expect(shapeless.json["transactionId"] == .null)
        }
    }

    @Test func `finds that the store couldn't be asked, until it could`() async throws {
        try await World.run(options: ["--receipt-verification", "remote"]) { world throws in
            let sale = try world.shop.sell()
            world.shop.failVerification(.status(500), times: 20)
            #expect(try world.post(sale.receipt).code == "store_unavailable")
            // The receipt says what was bought, though nobody has vouched for it.
            for search in [
                "transactionId=\(sale.transactionID)",
                try "accountId=u1&productId=coins100&date=\(world.today)&zone=UTC",
            ] {
                let found = try world.missed(search)
                #expect(found.status == "waiting_for_store")
                #expect(found.step == "wait")
                #expect(found.json["transactionId"]?.string == sale.transactionID)
                #expect(found.attempts.first?["claimed"] == true)
            }
            world.shop.repair()
            #expect(try world.post(sale.receipt).status == 201)
            #expect(try world.missed("transactionId=\(sale.transactionID)").status == "granted")
        }
    }

    @Test func `finds what the store told and nobody claimed, and has it granted`() async throws {
        try await World.run { world throws in
            let sale = try world.shop.sell { $0.appAccountToken = Self.token }
            try world.tell("ONE_TIME_CHARGE", of: sale)
            let found = try eventually { () throws -> Missed? in
                let found = try world.missed("transactionId=\(sale.transactionID)")
                return found.status == "unclaimed" ? found : nil
            }
            #expect(found?.step == "link_token")
            #expect(found?.notifications.first?["outcome"] == "unclaimed")
            #expect(try world.linkToken(Self.token, to: "u1").status == 200)
            let granted = try eventually { () throws -> Missed? in
                let found = try world.missed("transactionId=\(sale.transactionID)")
                return found.status == "granted" ? found : nil
            }
            #expect(granted?.json["accountId"] == "u1")
            #expect(try world.total() == 100)
        }
    }

    @Test func `finds the sandbox, other accounts and refunds`() async throws {
        try await World.run { world throws in
            let played = try world.shop.sell { $0.environment = "Sandbox" }
            #expect(try world.post(played).status == 201)
            let sandbox = try world.missed("transactionId=\(played.transactionID)")
            #expect(sandbox.status == "sandbox")
            #expect(sandbox.step == "explain_sandbox")

            let sale = try world.shop.sell()
            #expect(try world.post(sale, to: "u1").status == 201)
            #expect(try world.post(sale, to: "u2").code == "granted_to_other_account")
            let elsewhere = try world.missed("transactionId=\(sale.transactionID)")
            #expect(elsewhere.status == "granted_to_other_account")
            #expect(elsewhere.step == "ask_which_account")
            #expect(elsewhere.json["accountId"] == "u1")
            let own = try world.missed("transactionId=\(sale.transactionID)&accountId=u1")
            #expect(own.status == "granted")

            #expect(
                try world.refund(
                    sale.transactionID, "prorated", percentage: 40_000, signedAt: Shop.now()
                ).status == 200)
            let search = "transactionId=\(sale.transactionID)&accountId=u1"
            #expect(try world.missed(search).status == "partly_refunded")
            #expect(
                try world.refund(sale.transactionID, signedAt: Shop.now() + 1).status == 200)
            let refunded = try world.missed(search)
            #expect(refunded.status == "refunded")
            #expect(refunded.step == "explain_refund")
            #expect(
                refunded.json["evidence"]?["events"]?.array?.compactMap { $0["type"]?.string }
                    == [
                        "PurchaseRecorded", "CoinsGranted", "PurchaseRefunded",
                        "PurchaseRefunded",
                    ])
        }
    }

    @Test func `looks an order up once, and finds its purchases`() async throws {
        try await World.run(storeAPI: true) { world throws in
            let first = try world.shop.sell { $0.orderID = "MVM9X1V8W2" }
            let second = try world.shop.sell("coins500") { $0.orderID = "MVM9X1V8W2" }
            #expect(try world.post(first).status == 201)
            let order = try world.support("orders/MVM9X1V8W2")
            #expect(order.status == 200)
            let ids = order.json["purchases"]?.array?.compactMap { $0["transactionId"]?.string }
            #expect(ids == [first.transactionID, second.transactionID])
            // From now on the store isn't needed for it.
            world.shop.failVerification(.status(500), times: 1000, endpoint: "inApps/v1/lookup")
            #expect(try world.support("orders/MVM9X1V8W2").json == order.json)
            let answer = try world.support("support/purchases?orderId=MVM9X1V8W2&accountId=u1")
            let found = (answer.json["purchases"]?.array ?? []).map(Missed.init)
            #expect(found.map(\.status) == ["granted", "never_received"])
            #expect(found.last?.json["productId"] == "coins500")
            #expect(found.last?.json["purchasedAt"]?.string != nil)
            #expect(found.last?.step == "redeliver")
            #expect(try world.redeliver(second.transactionID, to: "u1").status == 201)
            #expect(try world.total() == 600)
            world.shop.repair()
            #expect(try world.support("orders/NOSUCHONE").code == "order_not_found")
        }
    }

    @Test func `without a key for the store finds only what is known here`() async throws {
        try await World.run { world throws in
            #expect(try world.support("orders/M1").code == "app_store_api_not_configured")
            #expect(try world.redeliver("T1", to: "u1").code == "app_store_api_not_configured")
            #expect(try world.missed("transactionId=T1").status == "never_received")
        }
    }

    @Test func `finds rejected receipts themselves if they are kept`() async throws {
        try await World.run(options: ["--keep-rejected-receipts"]) { world throws in
            let sale = try world.shop.sell("coins1000")
            #expect(try world.post(sale).code == "unknown_product")
            let found = try world.missed("transactionId=\(sale.transactionID)")
            #expect(found.attempts.first?["receiptKept"] == true)
            #expect(
                try world.ledger.rows(
                    """
                    SELECT convert_from(receipt, 'UTF8'),
                        encode(sha256(receipt), 'hex') = encode(receipt_sha256, 'hex')
                    FROM coinledger.purchase_attempts
                    """) == [[sale.signedTransaction, "t"]])
        }
    }
}

/// One purchase as the support desk sees it.
struct Missed {
    let json: JSON

    var status: String? { json["status"]?.string }
    var step: String? { json["nextStep"]?["code"]?.string }
    var attempts: [JSON] { json["evidence"]?["attempts"]?.array ?? [] }
    var notifications: [JSON] { json["evidence"]?["notifications"]?.array ?? [] }
}

extension World {
    /// Today's date in UTC.
    var today: String {
        get throws { String(try balance()["asOf"]?.string?.prefix(10) ?? "") }
    }

    func support(_ path: String) throws -> HTTPAnswer {
        try get("/v1/\(path)", key: ledger.keys.everything)
    }

    /// The one purchase that the support desk finds.
    func missed(_ query: String) throws -> Missed {
        let answer = try support("support/purchases?\(query)")
        #expect(answer.status == 200)
        #expect(answer.json["purchases"]?.array?.count == 1)
        return Missed(json: answer.json["purchases"]?.array?.first ?? .null)
    }

    func redeliver(_ id: String, to account: String?) throws -> HTTPAnswer {
        var body = JSONObject([
            .init("reason", "finished too early"), .init("ticketId", "S-7"),
        ])
        body.append("accountId", account.map(JSON.string))
        return try ask(
            HTTPQuestion(
                "POST", "/v1/transactions/\(id)/redelivery",
                headers: [("Authorization", "Bearer \(ledger.keys.everything)")],
                body: JSON.object(body).bytes))
    }

    /// The store tells the service of a purchase.
    func tell(_ type: String, of sale: StandInSale) throws {
        let payload = try shop.store.notification(type, of: sale.transactionID)
        let body: JSON = ["signedPayload": .string(payload)]
        let answer = try ask(
            HTTPQuestion("POST", "/v1/app-store/notifications", headers: [], body: body.bytes))
        #expect(answer.status == 200)
    }
}
