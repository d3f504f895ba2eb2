import AppStoreStandIn
import Base
import TestSupport
import Testing

/// App receipts that are verified without the store.
@Suite(.timeLimit(.minutes(15))) struct `An app receipt that is verified here` {
    @Test func `is granted while the store is away, and asks nobody`() async throws {
        try await World.run { world throws in
            world.shop.failVerification(.reset, times: 1000)
            world.shop.failVerification(.none, delayMilliseconds: 60_000, endpoint: "ocsp")
            let sale = try world.shop.sell()
            #expect(try world.post(sale.receipt).status == 201)
            #expect(try world.post(sale.receipt).code == "already_granted")
            #expect(try world.post(sale.signedTransaction).code == "already_granted")
            let play = try world.shop.sell { $0.environment = "Sandbox" }
            let answer = try world.post(play.receipt)
            #expect(answer.json["transactions"]?.array?.first?["environment"] == "Sandbox")
            #expect(world.shop.pendingFaults == 2)
            #expect(try world.total() == 100)
        }
    }

    @Test func `belongs to whoever posts it, since it names no token`() async throws {
        try await World.run { world throws in
            let sale = try world.shop.sell {
                $0.appAccountToken = "2f5c7a3e-9b1d-4c6f-8a2e-0d4b6c8e1f3a"
            }
            #expect(try world.post(sale.signedTransaction).code == "belongs_to_other_account")
            #expect(try world.post(sale.receipt).status == 201)
        }
    }

    @Test func `may be in any form that the store has used`() async throws {
        try await World.run { world throws in
            var old = ReceiptForm()
            old.style.digest = .sha1
            old.hasOldCertificates = true
            var open = ReceiptForm()
            open.style.hasOpenLengths = true
            open.wrappings = 1
            var short = ReceiptForm()
            short.hasOriginals = false
            short.productType = nil
            var repeated = ReceiptForm()
            repeated.copies = 3
            // Made a year ago, when the certificate was valid, which it no longer is.
            var historical = ReceiptForm()
            let then = Shop.now() / 1000 - 31_536_000
            historical.createdAt = then * 1000
            historical.leafValidity = (then - 60)..<(then + 60)
            for form in [old, open, short, repeated, historical] {
                let answer = try world.post(world.shop.receipt(form))
                #expect(answer.status == 201, "\(form): \(answer.text)")
                #expect(answer.json["transactions"]?.array?.count == 1)
            }
            #expect(try world.total() == 500)
        }
    }

    @Test func `that nobody entitled has signed is refused and named`() async throws {
        try await World.run { world throws in
            func faulty(_ fault: ReceiptFault) throws -> String {
                var form = ReceiptForm()
                form.fault = fault
                return try world.shop.receipt(form)
            }
            // Made today by a certificate that expired a year ago.
            var late = ReceiptForm()
            let then = Shop.now() / 1000 - 31_536_000
            late.leafValidity = (then - 60)..<(then + 60)
            let good = try #require(Base64.decode(try world.shop.sell().receipt))
            let cases: [(String, String)] = [
                (try faulty(.chain(.wrongLeafMarker)), "missing_leaf_marker"),
                (try faulty(.chain(.wrongIntermediateMarker)), "missing_intermediate_marker"),
                (try faulty(.chain(.foreignRoot)), "untrusted_chain"),
                (try faulty(.chain(.twoCertificates)), "untrusted_chain"),
                (try faulty(.chain(.fourCertificates)), "wrong_chain_length"),
                (try faulty(.wrongSignature), "bad_signature"),
                (try world.shop.receipt(late), "certificate_not_valid_at_signing"),
                (try world.shop.receipt(.xcode), "untrusted_chain"),
                (Base64.encode(Array(good.dropLast())), "receipt_malformed"),
                (Base64.encode(good + [0]), "receipt_malformed"),
                // SET { 1703: "999" } that nobody has signed.
                ("MQ4wDAICBqcCAQEEAzk5OQ==", "receipt_is_something_else"),
                ("MAoCAganBAM5OTkA", "receipt_malformed"),
            ]
            for (receipt, code) in cases {
                let answer = try world.post(receipt)
                #expect(answer.status == (code.hasPrefix("receipt_is") ? 400 : 422))
                #expect(answer.code == code)
                #expect(answer.isRetryable == false)
                #expect(!answer.text.contains("999"))
            }
            #expect(try world.total() == 0)
        }
    }

    @Test func `of another app, or without a consumable, is worth nothing`() async throws {
        try await World.run { world throws in
            let other = try world.shop.receipt(ReceiptForm()) { $0.fault = .wrongBundle }
            #expect(try world.post(other).code == "wrong_app")
            var bought = ReceiptForm()
            bought.productType = 0
            let answer = try world.post(world.shop.receipt(bought))
            #expect(answer.status == 422)
            #expect(answer.code == "transaction_not_in_receipt")
            #expect(answer.isRetryable == true)
            var cancelled = ReceiptForm()
            cancelled.cancelledAt = Shop.now()
            #expect(try world.post(world.shop.receipt(cancelled)).code == "refunded")
            #expect(try world.total() == 0)
        }
    }
}

@Suite(.timeLimit(.minutes(15))) struct `Asking the store after all` {
    private static let options = ["--receipt-verification", "offline-then-remote"]

    @Test func `is done for a receipt under a root that isn't known, and only for that`()
        async throws
    {
        // The service knows the root of transactions only.
        try await World.run(options: Self.options, roots: { $0.store.authority.root.pem }) {
            world throws in
            let sale = try world.shop.sell()
            world.shop.failVerification(.reset, times: 1000)
            let answer = try world.post(sale.receipt)
            #expect(answer.status == 503)
            #expect(answer.code == "store_unavailable")
            #expect(answer.isRetryable == true)
            #expect(try world.post(sale.signedTransaction).status == 201)
            world.shop.repair()
            #expect(try world.post(sale.receipt).code == "already_granted")
            #expect(try world.post(world.shop.receipt(ReceiptForm())).status == 201)
            // What is wrong whatever is known isn't asked about.
            world.shop.failVerification(.reset, times: 1000)
            var forged = ReceiptForm()
            forged.fault = .wrongSignature
            #expect(try world.post(world.shop.receipt(forged)).code == "bad_signature")
            #expect(world.services[0].output.contains("no root for app receipts"))
        }
    }

    @Test func `isn't needed for receipts that can be judged here`() async throws {
        try await World.run(options: Self.options) { world throws in
            world.shop.failVerification(.reset, times: 1000)
            #expect(try world.post(world.shop.sell().receipt).status == 201)
            var foreign = ReceiptForm()
            foreign.fault = .chain(.foreignRoot)
            let receipt = try world.shop.receipt(foreign)
            #expect(try world.post(receipt).status == 503)
            world.shop.repair()
            let answer = try world.post(receipt)
            #expect(answer.code == "rejected_by_store")
            #expect(answer.json["storeStatus"] == 21003)
            #expect(try world.total() == 100)
        }
    }
}
