import AppStore
import AppStoreStandIn
import Base
import Testing

@Suite struct `A notification of the stand-in` {
    private let store = makeStore()

    private func verifier() throws -> SignedTransactionVerifier {
        SignedTransactionVerifier(
            roots: try RootCertificates(files: [authority.root.der], allowPrivate: true))
    }

    private func payload(_ signed: String) throws -> JSON {
        try JSON.parse(verifier().verifyPayload(signed, now: noon))
    }

    private func transaction(_ signed: String) throws -> StoreTransaction {
        let inner = try #require(payload(signed)["data"]?["signedTransactionInfo"]?.string)
        return try verifier().verify(inner, now: noon)
    }

    private func sell(_ id: String, environment: String? = nil) throws -> String {
        var purchase = StandInPurchase(productID: product)
        purchase.transactionID = id
        purchase.environment = environment
        return try store.purchase(purchase).transactionID
    }

    @Test func `carries a transaction that is signed by itself`() throws {
        let id = try sell("T1")
        let signed = try store.notification("ONE_TIME_CHARGE", of: id) {
            $0.uuid = "e4e0b18b-0000-4000-8000-00000000000a"
        }
        let inner = try #require(payload(signed)["data"]?["signedTransactionInfo"])
        #expect(
            try payload(signed) == [
                "notificationType": "ONE_TIME_CHARGE",
                "notificationUUID": "e4e0b18b-0000-4000-8000-00000000000a",
                "data": [
                    "appAppleId": 1_234_567_890, "bundleId": "com.nonchalant",
                    "bundleVersion": "1", "environment": "Production",
                    "signedTransactionInfo": inner,
                ],
                "version": "2.0", "signedDate": 1_796_049_240_000,
            ])
        let transaction = try transaction(signed)
        #expect(transaction.transactionID == "T1")
        #expect(transaction.signedDate == noon)
        #expect(transaction.revocation == nil)
    }

    @Test func `has an id of its own each time`() throws {
        let first = try payload(store.notification("TEST"))["notificationUUID"]?.string
        let second = try payload(store.notification("TEST"))["notificationUUID"]?.string
        #expect(first?.utf8.count == 36)
        #expect(first != second)
    }

    @Test func `of the sandbox has no app id`() throws {
        let signed = try store.notification("REFUND", of: sell("T1", environment: "Sandbox"))
        #expect(try payload(signed)["data"]?["appAppleId"] == nil)
        #expect(try payload(signed)["data"]?["environment"] == "Sandbox")
    }

    @Test func `of a test has no transaction`() throws {
        let data = try payload(store.notification("TEST"))["data"]
        #expect(data?["signedTransactionInfo"] == nil)
        #expect(data?["bundleId"] == "com.nonchalant")
    }

    @Test func `tells of refunds and their reversal`() throws {
        let id = try sell("T1")
        let prorated = try store.refund(id, percentage: 67_932, reason: 1, date: noon - 5)
        #expect(try payload(prorated)["notificationType"] == "REFUND")
        #expect(
            try transaction(prorated).revocation
                == StoreRevocation(
                    date: noon - 5, reason: 1, type: "REFUND_PRORATED", percentage: 67_932))
        let whole = try store.refund(id)
        #expect(
            try transaction(whole).revocation
                == StoreRevocation(
                    date: noon, reason: 0, type: "REFUND_FULL", percentage: 100_000))
        let reversed = try store.reverseRefund(id)
        #expect(try payload(reversed)["notificationType"] == "REFUND_REVERSED")
        #expect(try transaction(reversed).revocation == nil)
        #expect(throws: StandInStoreError.notRefunded) { try store.reverseRefund(id) }
    }

    @Test func `asks for the consumption with a reason`() throws {
        let signed = try store.requestConsumption(sell("T1"), reason: "LEGAL")
        #expect(try payload(signed)["notificationType"] == "CONSUMPTION_REQUEST")
        #expect(try payload(signed)["data"]?["consumptionRequestReason"] == "LEGAL")
        let declined = try store.declineRefund("T1")
        #expect(try payload(declined)["notificationType"] == "REFUND_DECLINED")
    }

    @Test func `says what it's told to say`() throws {
        let signed = try store.notification("RESCIND_CONSENT", of: sell("T1")) {
            $0.subtype = "OTHER"
            $0.signedDate = noon - 1000
            $0.payload = JSONObject([.init("version", nil), .init("summary", 1)])
            $0.data = JSONObject([.init("bundleVersion", "7"), .init("appAppleId", nil)])
            $0.transaction = JSONObject([.init("quantity", 9), .init("price", nil)])
        }
        let payload = try payload(signed)
        #expect(payload["subtype"] == "OTHER")
        #expect(payload["signedDate"] == .integer(noon - 1000))
        #expect(payload["version"] == nil)
        #expect(payload["summary"] == 1)
        #expect(payload["data"]?["bundleVersion"] == "7")
        #expect(payload["data"]?["appAppleId"] == nil)
        let transaction = try transaction(signed)
        #expect(transaction.quantity == 9)
        #expect(transaction.price == nil)
        #expect(transaction.signedDate == noon - 1000)
    }

    @Test func `is signed wrongly outside or inside, on request`() throws {
        let id = try sell("T1")
        let outside = try store.notification("REFUND", of: id) { $0.fault = .wrongSignature }
        #expect(throws: SignedDataError.badSignature) { try payload(outside) }
        let inside = try store.notification("REFUND", of: id) {
            $0.innerFault = .chain(.foreignRoot)
        }
        #expect(try payload(inside)["notificationType"] == "REFUND")
        #expect(throws: SignedDataError.untrustedChain) { try transaction(inside) }
    }

    @Test func `is of another app outside or inside, on request`() throws {
        let id = try sell("T1")
        let outside = try store.notification("REFUND", of: id) { $0.fault = .wrongBundle }
        #expect(try payload(outside)["data"]?["bundleId"] == "com.example.other")
        #expect(try transaction(outside).bundleID == "com.nonchalant")
        let inside = try store.notification("REFUND", of: id) { $0.innerFault = .wrongBundle }
        #expect(try payload(inside)["data"]?["bundleId"] == "com.nonchalant")
        #expect(try transaction(inside).bundleID == "com.example.other")
    }

    @Test func `is only of what was sold`() throws {
        #expect(throws: StandInStoreError.unknownTransaction) {
            try store.notification("REFUND", of: "T9")
        }
        let id = try store.begin(StandInPurchase(productID: product), .askToBuy)
        #expect(throws: StandInStoreError.wrongState(.deferred)) { try store.refund(id) }
    }
}
