import AppStore
import Base
import Testing

@Suite struct `A signed payload` {
    private func read(_ changes: [(String, JSON?)]) throws -> StoreTransaction {
        try StoreTransaction(signedPayload: payload(changes).bytes)
    }

    @Test func `may lack what isn't needed`() throws {
        let transaction = try StoreTransaction(
            signedPayload: Array(
                """
                {"transactionId":"1","bundleId":"a.b","productId":"c","purchaseDate":5,\
                "environment":"Production","type":"Consumable","appAccountToken":null}
                """.utf8))
        let expected = try StoreTransaction(
            transactionID: "1", originalTransactionID: "1", bundleID: "a.b", productID: "c",
            quantity: 1, environment: .production, purchaseDate: 5, type: "Consumable")
        #expect(transaction == expected)
    }

    @Test(arguments: [
        "transactionId", "bundleId", "productId", "purchaseDate", "environment", "type",
    ])
    func `must have what is needed`(field: String) {
        #expect(throws: InvalidStoreField(field)) { try read([(field, nil)]) }
        #expect(throws: InvalidStoreField(field)) { try read([(field, .null)]) }
    }

    @Test(arguments: [
        ("transactionId", 5 as JSON), ("transactionId", ""), ("transactionId", "a b"),
        ("transactionId", "1\u{0}"), ("transactionId", .string(.init(repeating: "1", count: 65))),
        ("originalTransactionId", "é"), ("bundleId", ""), ("bundleId", "com.a b"),
        ("productId", .string(.init(repeating: "p", count: 256))), ("productId", "p\u{0}"),
        ("quantity", 0), ("quantity", -1), ("quantity", 2_147_483_648), ("quantity", "3"),
        ("quantity", .decimal("1.5")), ("purchaseDate", -1), ("purchaseDate", "5"),
        ("purchaseDate", 253_402_300_800_000), ("purchaseDate", .decimal("1e300")),
        ("signedDate", .decimal("99999999999999999999")), ("price", .decimal("1.99")),
        ("price", -1), ("price", .decimal("9223372036854775808")), ("currency", 5),
        ("appAccountToken", ""), ("appAccountToken", "e4e0b18b00004000800000000000000a"),
        ("appAccountToken", "g4e0b18b-0000-4000-8000-00000000000a"),
        ("appAccountToken", "e4e0b18b-0000-4000-8000-00000000000a0"),
        ("type", .string(.init(repeating: "t", count: 65))), ("type", "a\nb"),
        ("environment", ""), ("offerType", "3"),
    ])
    func `with a field out of bounds is refused by its name`(field: String, value: JSON) {
        if field == "environment" {
            // An empty text is merely unknown, and is refused by whoever decides on it.
            #expect(throws: Never.self) { try read([(field, value)]) }
        } else {
            #expect(throws: InvalidStoreField(field)) { try read([(field, value)]) }
        }
    }

    @Test func `has dates whose fractions are cut off`() throws {
        let transaction = try read([
            ("purchaseDate", .decimal("1697679936049.7297")),
            ("signedDate", .decimal("1697679936056.485")),
        ])
        #expect(transaction.purchaseDate == 1_697_679_936_049)
        #expect(transaction.signedDate == 1_697_679_936_056)
    }

    @Test func `has its account token in lower case`() throws {
        let transaction = try read([
            ("appAccountToken", "E4E0B18B-0000-4000-8000-00000000000A")
        ])
        #expect(transaction.appAccountToken == "e4e0b18b-0000-4000-8000-00000000000a")
    }

    @Test func `keeps what it doesn't know as text`() throws {
        let transaction = try read([
            ("environment", "Moon"), ("type", "Rental"), ("inAppOwnershipType", "LENT"),
            ("revocationDate", 7), ("revocationType", "REFUND_LATER"), ("brandNew", [1, 2]),
        ])
        #expect(transaction.environment == .other("Moon"))
        #expect(transaction.environment.text == "Moon")
        #expect(transaction.type == "Rental")
        #expect(transaction.ownership == "LENT")
        #expect(transaction.revocation?.type == "REFUND_LATER")
    }

    @Test func `tells of a partial refund`() throws {
        let transaction = try read([
            ("revocationDate", 1_796_049_235_000), ("revocationReason", 1),
            ("revocationType", "REFUND_PRORATED"), ("revocationPercentage", 67932),
        ])
        let expected = try StoreRevocation(
            date: 1_796_049_235_000, reason: 1, type: "REFUND_PRORATED", percentage: 67932)
        #expect(transaction.revocation == expected)
        for percentage: Int64 in [-1, 100_001] {
            #expect(throws: InvalidStoreField("revocationPercentage")) {
                try read([("revocationDate", 1), ("revocationPercentage", .integer(percentage))])
            }
        }
    }

    @Test(arguments: ["", "[]", "{", "null", #"{"a":1,"a":2}"#])
    func `that isn't an object is refused`(text: String) {
        #expect(throws: InvalidStoreField("")) {
            try StoreTransaction(signedPayload: Array(text.utf8))
        }
    }
}

@Suite struct `An entry of a receipt` {
    private func read(_ members: [(String, JSON)]) throws -> StoreTransaction? {
        try StoreTransaction(
            receiptEntry: JSONObject(members.map { .init($0.0, $0.1) }),
            bundleID: "com.nonchalant", environment: .production)
    }

    private let entry: [(String, JSON)] = [
        ("quantity", "3"), ("product_id", "coins100"), ("transaction_id", "1000000520042167"),
        ("original_transaction_id", "1000000520042167"),
        ("purchase_date", "2019-04-18 21:13:43 Etc/GMT"), ("purchase_date_ms", "1555622023000"),
        ("purchase_date_pst", "2019-04-18 14:13:43 America/Los_Angeles"),
        ("original_purchase_date_ms", "1555622023000"), ("is_trial_period", "false"),
        ("in_app_ownership_type", "PURCHASED"),
    ]

    @Test func `is read from text`() throws {
        let expected = try StoreTransaction(
            transactionID: "1000000520042167", bundleID: "com.nonchalant", productID: "coins100",
            quantity: 3, environment: .production, purchaseDate: 1_555_622_023_000,
            originalPurchaseDate: 1_555_622_023_000, ownership: "PURCHASED")
        #expect(try read(entry) == expected)
    }

    @Test func `may have numbers where text is usual`() throws {
        let transaction = try read([
            ("quantity", 2), ("product_id", "coins100"), ("transaction_id", 520_042_167),
            ("original_transaction_id", 520_042_100), ("purchase_date_ms", 1_555_622_023_000),
        ])
        #expect(transaction?.transactionID == "520042167")
        #expect(transaction?.originalTransactionID == "520042100")
        #expect(transaction?.quantity == 2)
    }

    @Test(arguments: [
        ("quantity", "0" as JSON), ("quantity", "-1"), ("quantity", "2147483648"),
        ("quantity", "three"), ("quantity", "+3"), ("quantity", .decimal("1.5")),
        ("purchase_date_ms", "2019-04-18"), ("purchase_date_ms", true), ("product_id", 5),
        ("app_account_token", "x"),
    ])
    func `with a field out of bounds is refused`(field: String, value: JSON) {
        #expect(throws: InvalidStoreField.self) {
            try read(entry.filter { $0.0 != field } + [(field, value)])
        }
    }

    @Test func `of a subscription is passed over, whatever else it says`() throws {
        let expiry: [(String, JSON)] = [("expires_date_ms", "1558214023000")]
        #expect(try read(entry + expiry) == nil)
        #expect(try read(expiry) == nil)
        // Empty means absent.
        #expect(try read(entry + [("expires_date", "")]) != nil)
    }

    @Test func `may have been taken back`() throws {
        let transaction = try read(
            entry + [("cancellation_date_ms", "1555708423000"), ("cancellation_reason", "1")])
        #expect(
            try transaction?.revocation == StoreRevocation(date: 1_555_708_423_000, reason: 1))
    }
}
