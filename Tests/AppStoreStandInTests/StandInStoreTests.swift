import AppStore
import AppStoreStandIn
import Base
import Testing

/// 2026-11-30T14:34:00Z in milliseconds since 1970.
let noon: Int64 = 1_796_049_240_000

let product = "com.nonchalant.consumable1"

/// One authority for all tests: its keys take a while to make.
let authority = StandInAuthority(now: noon / 1000)

func makeStore() -> StandInStore { StandInStore(authority: authority, now: { noon }) }

@Suite struct `The stand-in's store` {
    private let store = makeStore()

    private func verifier() throws -> SignedTransactionVerifier {
        SignedTransactionVerifier(
            roots: try RootCertificates(files: [authority.root.der], allowPrivate: true))
    }

    private func idsInReceipt(_ receipt: String, _ environment: String = "Production") -> [JSON?] {
        let answer = store.verifyReceipt(receipt, environment: environment)
        return answer["receipt"]?["in_app"]?.array?.map { $0["transaction_id"] } ?? [nil]
    }

    @Test func `sells a transaction that verifies`() throws {
        var purchase = StandInPurchase(productID: product)
        purchase.quantity = 3
        purchase.appAccountToken = "e4e0b18b-0000-4000-8000-00000000000a"
        let sale = try store.purchase(purchase)
        let expected = try StoreTransaction(
            transactionID: "1796049240000001", bundleID: "com.nonchalant",
            productID: product, quantity: 3, environment: .production, purchaseDate: noon,
            originalPurchaseDate: noon, signedDate: noon, type: "Consumable",
            ownership: "PURCHASED", appAccountToken: "e4e0b18b-0000-4000-8000-00000000000a",
            price: 360_000, currency: "JPY", storefront: "JPN", storefrontID: "143462",
            transactionReason: "PURCHASE")
        #expect(try verifier().verify(sale.signedTransaction, now: noon) == expected)
        #expect(sale.transactionID == "1796049240000001")
        #expect(try store.purchase(purchase).transactionID == "1796049240000002")
    }

    @Test func `sells what is asked for, also what no store would`() throws {
        var purchase = StandInPurchase(productID: product)
        purchase.transactionID = "T1"
        purchase.originalTransactionID = "T0"
        purchase.environment = "Sandbox"
        purchase.price = 1990
        purchase.currency = "USD"
        purchase.storefront = "USA"
        purchase.payload = JSONObject([
            .init("type", "Non-Consumable"), .init("price", nil), .init("offerType", 3),
        ])
        let sale = try store.purchase(purchase)
        let transaction = try verifier().verify(sale.signedTransaction, now: noon)
        #expect(transaction.transactionID == "T1")
        #expect(transaction.originalTransactionID == "T0")
        #expect(transaction.environment == .sandbox)
        #expect(transaction.price == nil)
        #expect(transaction.currency == "USD")
        #expect(transaction.storefront == "USA")
        #expect(transaction.type == "Non-Consumable")
        #expect(transaction.offerType == 3)
    }

    @Test func `has a receipt that looks genuine from outside`() throws {
        let receipt = try store.purchase(StandInPurchase(productID: product)).receipt
        #expect(receipt.hasPrefix("MI"))
        #expect(try SubmittedReceipt.detect(receipt) == .appReceipt(base64: receipt))
    }

    @Test func `keeps a transaction in the receipt until it is finished`() throws {
        var purchase = StandInPurchase(productID: product)
        purchase.transactionID = "T1"
        let first = try store.purchase(purchase).receipt
        purchase.transactionID = "T2"
        let second = try store.purchase(purchase).receipt
        #expect(idsInReceipt(first) == ["T1"])
        #expect(idsInReceipt(second) == ["T1", "T2"])
        try store.finish("T1")
        try store.finish("T1")
        #expect(idsInReceipt(store.receipt()) == ["T2"])
        try store.finish("T2")
        #expect(idsInReceipt(store.receipt()) == [])
        // An old receipt stays what it was.
        #expect(idsInReceipt(second) == ["T1", "T2"])
    }

    @Test func `has a receipt for each device and environment`() throws {
        for (id, device, environment) in [
            ("T1", "a", "Production"), ("T2", "b", "Production"), ("T3", "a", "Sandbox"),
        ] {
            var purchase = StandInPurchase(productID: product)
            purchase.transactionID = id
            purchase.device = device
            purchase.environment = environment
            _ = try store.purchase(purchase)
        }
        #expect(idsInReceipt(store.receipt(device: "a")) == ["T1"])
        #expect(idsInReceipt(store.receipt(device: "b")) == ["T2"])
        let sandbox = store.receipt(device: "a", environment: "Sandbox")
        #expect(idsInReceipt(sandbox, "Sandbox") == ["T3"])
        #expect(store.verifyReceipt(sandbox, environment: "Production") == ["status": 21007])
        let production = store.receipt(device: "a")
        #expect(store.verifyReceipt(production, environment: "Sandbox") == ["status": 21008])
    }

    @Test func `sells an id again with what is said then`() throws {
        var purchase = StandInPurchase(productID: product)
        purchase.transactionID = "T1"
        purchase.device = "a"
        _ = try store.purchase(purchase)
        purchase.device = "b"
        purchase.quantity = 2
        _ = try store.purchase(purchase)
        #expect(idsInReceipt(store.receipt(device: "a")) == [])
        #expect(idsInReceipt(store.receipt(device: "b")) == ["T1"])
    }

    @Test func `writes entries in text only`() throws {
        var purchase = StandInPurchase(productID: product)
        purchase.transactionID = "1"
        purchase.quantity = 3
        let receipt = try store.purchase(purchase).receipt
        let answer = store.verifyReceipt(receipt, environment: "Production")
        #expect(answer["status"] == 0)
        #expect(answer["environment"] == "Production")
        #expect(answer["receipt"]?["receipt_type"] == "Production")
        #expect(answer["receipt"]?["bundle_id"] == "com.nonchalant")
        #expect(answer["receipt"]?["request_date_ms"] == "1796049240000")
        #expect(
            answer["receipt"]?["in_app"] == [
                [
                    "quantity": "3", "product_id": "com.nonchalant.consumable1",
                    "transaction_id": "1", "original_transaction_id": "1",
                    "purchase_date": "2026-11-30 14:34:00 Etc/GMT",
                    "purchase_date_ms": "1796049240000",
                    "purchase_date_pst": "2026-11-30 06:34:00 America/Los_Angeles",
                    "original_purchase_date": "2026-11-30 14:34:00 Etc/GMT",
                    "original_purchase_date_ms": "1796049240000",
                    "original_purchase_date_pst": "2026-11-30 06:34:00 America/Los_Angeles",
                    "is_trial_period": "false", "in_app_ownership_type": "PURCHASED",
                ]
            ])
    }

    @Test func `tells a receipt that isn't its own from one that is none`() throws {
        let receipt = try store.purchase(StandInPurchase(productID: product)).receipt
        var bytes = try #require(Base64.decode(receipt))
        bytes[bytes.count - 5] ^= 1
        let foreign = StandInStore(now: { noon }).receipt()
        for forged in [Base64.encode(bytes), foreign] {
            #expect(store.verifyReceipt(forged, environment: "Production") == ["status": 21003])
        }
        for text in [
            "", "MII=", "hello", Base64.encode([0x30, 0x84] + [UInt8](repeating: 0, count: 68)),
        ] {
            #expect(store.verifyReceipt(text, environment: "Production") == ["status": 21002])
        }
    }

    @Test(arguments: [
        ("wrong_signature", SignedDataError.badSignature), ("wrong_oid", .missingLeafMarker),
        ("wrong_intermediate_oid", .missingIntermediateMarker),
        ("intermediate_is_no_authority", .notAnAuthority), ("expired", .certificateNotValidThen),
        ("foreign_root", .untrustedChain), ("two_certificates", .wrongChainLength),
        ("four_certificates", .wrongChainLength), ("leaf_on_other_curve", .unsupportedAlgorithm),
    ])
    func `signs wrongly on request`(name: String, error: SignedDataError) throws {
        var purchase = StandInPurchase(productID: product)
        let fault = try #require(PurchaseFault(name))
        purchase.fault = fault
        let sale = try store.purchase(purchase)
        #expect(throws: error) { try verifier().verify(sale.signedTransaction, now: noon) }
    }

    @Test func `sells for another app on request`() throws {
        var purchase = StandInPurchase(productID: product)
        purchase.fault = .wrongBundle
        let sale = try store.purchase(purchase)
        let transaction = try verifier().verify(sale.signedTransaction, now: noon)
        #expect(transaction.bundleID == "com.example.other")
        let answer = store.verifyReceipt(sale.receipt, environment: "Production")
        #expect(answer["receipt"]?["bundle_id"] == "com.example.other")
    }

    @Test func `sells no more than it can keep`() throws {
        var configuration = StandInStoreConfiguration()
        configuration.transactionsMax = 1
        let store = StandInStore(
            configuration: configuration, authority: authority, now: { noon })
        let sale = try store.purchase(StandInPurchase(productID: product))
        #expect(throws: StandInStoreError.full) {
            try store.purchase(StandInPurchase(productID: product))
        }
        var again = StandInPurchase(productID: product)
        again.transactionID = sale.transactionID
        #expect(throws: Never.self) { try store.purchase(again) }
    }

    @Test func `finishes only what it sold`() {
        #expect(throws: StandInStoreError.unknownTransaction) { try store.finish("T9") }
    }
}
