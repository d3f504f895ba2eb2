import AppStoreStandIn
import Base
import TestSupport
import Testing

/// Row 22 of the flow: nothing that the store didn't sign for this app is worth anything.
@Suite(.timeLimit(.minutes(15))) struct `What proves no purchase` {
    /// Posts each text, and expects the status, the code and no grant.
    private func expectRefused(
        _ world: World, _ texts: [(name: String, text: String, status: Int, code: String)]
    ) throws {
        for (name, text, status, code) in texts {
            let answer = try world.post(text)
            #expect(answer.status == status, "\(name): \(answer.text)")
            #expect(answer.code == code, "\(name)")
            #expect(answer.isRetryable == false, "\(name)")
            #expect(answer.finish.values.allSatisfy { !$0 }, "\(name)")
        }
        #expect(try world.ledger.count("SELECT count(*) FROM coinledger.events") == 0)
    }

    @Test func `a chain with anything wrong is refused`() async throws {
        let codes: [ChainFault: String] = [
            .wrongLeafMarker: "missing_leaf_marker",
            .wrongIntermediateMarker: "missing_intermediate_marker",
            .intermediateIsNoAuthority: "intermediate_is_no_authority",
            .leafOnOtherCurve: "unsupported_algorithm",
            .twoCertificates: "wrong_chain_length", .fourCertificates: "wrong_chain_length",
            .expired: "certificate_not_valid_at_signing", .foreignRoot: "untrusted_chain",
        ]
        try await World.run { world throws in
            var texts: [(name: String, text: String, status: Int, code: String)] = []
            for fault in ChainFault.allCases {
                let sale = try world.shop.sell { $0.fault = .chain(fault) }
                texts.append((fault.rawValue, sale.signedTransaction, 422, codes[fault] ?? ""))
            }
            try expectRefused(world, texts)
        }
    }

    @Test func `a wrong signature or algorithm is refused`() async throws {
        try await World.run { world throws in
            let chain = world.shop.store.authority.chain
            let payload = Array(#"{"transactionId":"1"}"#.utf8)
            let forged = try world.shop.sell { $0.fault = .wrongSignature }
            let texts = [("wrong signature", forged.signedTransaction, 422, "bad_signature")]
            let algorithms = ["none", "HS256", "ES384", "RS256", "es256"]
            try expectRefused(
                world,
                texts
                    + algorithms.map { algorithm in
                        let input = chain.signingInput(payload, algorithm: algorithm)
                        let signature = Base64.encode(chain.key.sign(Array(input.utf8)), .url)
                        return (algorithm, input + "." + signature, 422, "unsupported_algorithm")
                    })
        }
    }

    @Test func `a purchase of something else is refused`() async throws {
        try await World.run { world throws in
            func signed(_ payload: JSON) throws -> String {
                try world.shop.sell(payload: payload).signedTransaction
            }
            let otherApp = try world.shop.sell { $0.fault = .wrongBundle }
            try expectRefused(
                world,
                [
                    ("other app", otherApp.signedTransaction, 422, "wrong_app"),
                    (
                        "subscription", try signed(["type": "Auto-Renewable Subscription"]), 422,
                        "not_consumable"
                    ),
                    (
                        "shared", try signed(["inAppOwnershipType": "FAMILY_SHARED"]), 422,
                        "not_purchased"
                    ),
                    ("quantity 0", try signed(["quantity": 0]), 422, "malformed_payload"),
                    ("quantity -1", try signed(["quantity": -1]), 422, "malformed_payload"),
                    ("quantity 11", try signed(["quantity": 11]), 422, "quantity_out_of_range"),
                    (
                        "quantity 2^31", try signed(["quantity": 2_147_483_648]), 422,
                        "malformed_payload"
                    ),
                    ("Xcode", try signed(["environment": "Xcode"]), 422, "environment_refused"),
                    (
                        "a day too early",
                        try signed(["signedDate": .integer(Shop.now() + 90_000_000)]), 422,
                        "signed_in_the_future"
                    ),
                    ("no id", try signed(["transactionId": nil]), 422, "malformed_payload"),
                    ("number as id", try signed(["transactionId": 5]), 422, "malformed_payload"),
                    ("no type", try signed(["type": nil]), 422, "malformed_payload"),
                    ("no date", try signed(["purchaseDate": nil]), 422, "malformed_payload"),
                ])
        }
    }

    @Test func `a text that isn't a receipt is named for what it is`() async throws {
        try await World.run { world throws in
            let receipt = try world.shop.sell().receipt
            let base64 = "MIITtgYJKoZIhvcNAQcCoIITpzCCE6MCAQExCzAJBgUr"
            let twice = Base64.encode(Array(receipt.utf8))
            try expectRefused(
                world,
                [
                    ("empty", "", 400, "receipt_empty"),
                    ("blank", " \n", 400, "receipt_empty"),
                    (
                        "verification result", #"{"status":0,"receipt":{"in_app":[]}}"#, 400,
                        "receipt_is_verification_result"
                    ),
                    ("JSON", #"{"a":1}"#, 400, "receipt_is_json"),
                    (
                        "old receipt", #"{ "signature" = "AqU"; "purchase-info" = "ewoJ"; }"#, 400,
                        "receipt_is_old_property_list"
                    ),
                    (
                        "property list", "<?xml version=\"1.0\"?><plist/>", 400,
                        "receipt_is_property_list"
                    ),
                    ("markup", "<html></html>", 400, "receipt_is_markup"),
                    ("quoted", "\"\(base64)\"", 400, "receipt_is_quoted"),
                    ("percent-encoded", "MII%2B", 400, "receipt_is_percent_encoded"),
                    ("blanks for plus", "MIIA AAA", 400, "receipt_has_blanks"),
                    ("transaction id", "1000000551439498", 400, "receipt_is_transaction_id"),
                    ("twice encoded", twice, 400, "receipt_is_base64_twice"),
                    ("two segments", "eyJ.eyJ", 400, "receipt_is_not_a_signed_transaction"),
                    ("cut off", String(base64.dropLast()), 400, "receipt_is_not_base64"),
                    ("other base64", "AAAA", 400, "receipt_is_something_else"),
                ])
        }
    }

    @Test func `a hand-made receipt is refused by the store, and its id isn't believed`()
        async throws
    {
        try await World.run(options: World.remoteReceipts) { world throws in
            // SET { 1703: "999" }, as a parser of app receipts would read it, in a SEQUENCE.
            let bytes: [UInt8] = [
                0x30, 0x0A, 0x02, 0x02, 0x06, 0xA7, 0x04, 0x03, 0x39, 0x39, 0x39, 0,
            ]
            let answer = try world.post(Base64.encode(bytes))
            #expect(answer.status == 422)
            #expect(answer.code == "rejected_by_store")
            #expect(answer.json["storeStatus"] == 21002)
            #expect(!answer.text.contains("999"))
            // Signed by somebody else.
            let foreign = try Shop()
            defer { foreign.close() }
            let forged = try world.post(foreign.sell().receipt)
            #expect(forged.status == 422)
            #expect(forged.json["storeStatus"] == 21003)
            #expect(try world.total() == 0)
        }
    }

    @Test func `a body that isn't the one object with a receipt is refused and named`() async throws
    {
        try await World.run { world throws in
            let receipt = try world.shop.sell().signedTransaction
            let bodies: [(body: String, code: String, detail: String?)] = [
                ("", "malformed_json", nil), ("{", "malformed_json", nil),
                ("receipt=\(receipt)", "malformed_json", nil),
                (#"{"receipt":"a","receipt":"b"}"#, "malformed_json", nil),
                ("[]", "invalid_body", nil), ("{}", "invalid_body", "receipt"),
                (#"{"receipt":5}"#, "invalid_body", "receipt"),
                (#"{"receipt":{"status":0}}"#, "invalid_body", "receipt"),
                (
                    #"{"receipt":"\#(receipt)","transactionId":"999"}"#, "invalid_body",
                    "transactionId"
                ),
                (#"{"status":0,"receipt":{"in_app":[]}}"#, "invalid_body", "status"),
            ]
            for (body, code, detail) in bodies {
                let answer = try world.ask(world.posting(body: Array(body.utf8), to: "u1"))
                #expect(answer.status == 400, "\(body)")
                #expect(answer.code == code, "\(body)")
                #expect(answer.json["detail"]?.string == detail, "\(body)")
            }
            #expect(try world.total() == 0)
        }
    }
}
