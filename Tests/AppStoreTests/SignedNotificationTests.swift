import AppStore
import AppStoreStandIn
import Base
import Testing

@Suite struct `A signed notification` {
    private let store = StandInStore(authority: authority, now: { noon })

    private func verify(_ signed: String) throws(SignedNotificationError) -> VerifiedNotification {
        guard let roots = try? roots() else { preconditionFailure("the authority has a root") }
        return try SignedTransactionVerifier(roots: roots).verifyNotification(signed, now: noon)
    }

    private func refusal(_ signed: String) -> SignedNotificationError? {
        do throws(SignedNotificationError) {
            _ = try verify(signed)
            return nil
        } catch {
            return error
        }
    }

    private func sell() throws -> String {
        try store.purchase(StandInPurchase(productID: "coins100")).transactionID
    }

    private func make(
        _ type: String = "ONE_TIME_CHARGE", _ change: (inout StandInNotification) -> Void = { _ in }
    ) throws -> String {
        try store.notification(type, of: sell(), change)
    }

    private static let uuid = "e4e0b18b-0000-4000-8000-00000000000a"

    @Test func `is taken with the transaction in it`() throws {
        let id = try sell()
        let signed = try store.notification("CONSUMPTION_REQUEST", of: id) {
            $0.uuid = Self.uuid.uppercased()
            $0.subtype = "X"
            $0.consumptionRequestReason = "LEGAL"
        }
        let verified = try verify(signed)
        let notification = verified.notification
        #expect(notification.uuid == Self.uuid)
        #expect(notification.type == "CONSUMPTION_REQUEST")
        #expect(notification.subtype == "X")
        #expect(notification.signedDate == noon)
        #expect(notification.environment == .production)
        #expect(notification.bundleID == "com.nonchalant")
        #expect(notification.appAppleID == 1_234_567_890)
        #expect(notification.consumptionRequestReason == "LEGAL")
        #expect(verified.transaction?.transactionID == id)
        #expect(verified.transaction?.environment == .production)
    }

    @Test func `may hold no transaction`() throws {
        let verified = try verify(store.notification("TEST"))
        #expect(verified.notification.type == "TEST")
        #expect(verified.transaction == nil)
    }

    @Test func `of the sandbox states no app id`() throws {
        let verified = try verify(store.notification("TEST") { $0.environment = "Sandbox" })
        #expect(verified.notification.environment == .sandbox)
        #expect(verified.notification.appAppleID == nil)
    }

    @Test func `of a type that's new is taken, with fields that are new`() throws {
        let signed = try make("SOMETHING_NEW") {
            $0.payload = JSONObject([.init("surprise", ["a": 1])])
            $0.data = JSONObject([.init("other", [1])])
        }
        #expect(try verify(signed).notification.type == "SOMETHING_NEW")
    }

    static let others: [(String, JSON, StoreEnvironment)] = [
        ("summary", ["bundleId": "com.nonchalant", "environment": "Sandbox"], .sandbox),
        ("appData", ["bundleId": "com.nonchalant", "environment": "Production"], .production),
        (
            "externalPurchaseToken", ["bundleId": "com.nonchalant", "externalPurchaseId": "x-1"],
            .production
        ),
        (
            "externalPurchaseToken",
            ["bundleId": "com.nonchalant", "externalPurchaseId": "SANDBOX_x"], .sandbox
        ),
    ]

    @Test(arguments: others)
    func `may be about something else than data`(
        name: String, about: JSON, environment: StoreEnvironment
    ) throws {
        let signed = try store.notification("X") {
            $0.payload = JSONObject([.init("data", nil), .init(name, about)])
        }
        let verified = try verify(signed)
        #expect(verified.notification.environment == environment)
        #expect(verified.notification.bundleID == "com.nonchalant")
        #expect(verified.transaction == nil)
    }

    static let faults: [(PurchaseFault, SignedDataError)] = [
        (.wrongSignature, .badSignature), (.chain(.foreignRoot), .untrustedChain),
        (.chain(.wrongLeafMarker), .missingLeafMarker),
    ]

    @Test(arguments: faults)
    func `is signed right, and so is its transaction`(
        fault: PurchaseFault, error: SignedDataError
    ) throws {
        #expect(try refusal(make { $0.fault = fault }) == .notification(error))
        #expect(try refusal(make { $0.innerFault = fault }) == .transaction(error))
    }

    @Test func `is of the same app and environment as its transaction`() throws {
        #expect(try refusal(make { $0.innerFault = .wrongBundle }) == .transactionMismatch)
        #expect(try refusal(make { $0.environment = "Sandbox" }) == .transactionMismatch)
        let inner = JSONObject([.init("environment", "Sandbox")])
        #expect(try refusal(make { $0.transaction = inner }) == .transactionMismatch)
        // Both of another app are the caller's business.
        let foreign = try make {
            $0.fault = .wrongBundle
            $0.innerFault = .wrongBundle
        }
        #expect(try verify(foreign).notification.bundleID == PurchaseFault.wrongBundleID)
    }

    static let members: [(String, [JSON?])] = [
        ("notificationType", [nil, 5, "", "ÄÖÜ"]),
        ("notificationUUID", [nil, "x", "", "e4e0b18b-0000-4000-8000-00000000000", 5]),
        ("version", [nil, "1.0", "2", 2]), ("signedDate", [nil, -1, "now"]),
        ("subtype", [5, .string(String(repeating: "x", count: 65)), "a\nb"]),
        ("data", [nil, 5, []]),
    ]

    @Test(arguments: members)
    func `has every field that it must have`(name: String, values: [JSON?]) throws {
        for value in values {
            let signed = try make { $0.payload = JSONObject([.init(name, value ?? .null)]) }
            #expect(
                refusal(signed) == .notification(.malformedPayload(field: name)),
                "\(value ?? .null)")
        }
    }

    static let dataMembers: [(String, [JSON?])] = [
        ("bundleId", [nil, "", 5]), ("environment", [nil, "", 5]), ("appAppleId", ["1"]),
        ("signedTransactionInfo", [5]),
        ("consumptionRequestReason", [.string(String(repeating: "x", count: 65))]),
    ]

    @Test(arguments: dataMembers)
    func `has every field of its data`(name: String, values: [JSON?]) throws {
        for value in values {
            let signed = try make { $0.data = JSONObject([.init(name, value ?? .null)]) }
            #expect(refusal(signed) == .notification(.malformedPayload(field: name)))
        }
    }

    @Test func `is no transaction, and a transaction no notification`() throws {
        let sale = try store.purchase(StandInPurchase(productID: "coins100"))
        #expect(
            refusal(sale.signedTransaction)
                == .notification(.malformedPayload(field: "notificationType")))
        let verifier = SignedTransactionVerifier(roots: try roots())
        #expect(throws: SignedDataError.malformedPayload(field: "transactionId")) {
            try verifier.verify(make(), now: noon)
        }
    }

    @Test(arguments: ["", ".", "..", "a.b.c", "\u{0}", "{}"])
    func `is a JWS`(text: String) {
        #expect(refusal(text) == .notification(.malformed))
    }

    @Test func `of any other bytes is refused`() throws {
        let bytes = Array(try make().utf8)
        var numbers = SeededRandom(seed: 17)
        for _ in 0..<2000 {
            var changed = bytes
            let index = Int.random(in: changed.indices, using: &numbers)
            changed[index] = UInt8.random(in: 0x21...0x7E, using: &numbers)
            guard changed != bytes else { continue }
            let text = String(decoding: changed, as: UTF8.self)
            // The last character of a segment has bits that mean nothing.
            if (try? verify(text)) != nil {
                let next = index + 1
                #expect(next == bytes.count || bytes[next] == UInt8(ascii: "."))
            }
        }
        for count in stride(from: 0, to: bytes.count, by: 97) {
            #expect(refusal(String(decoding: bytes.prefix(count), as: UTF8.self)) != nil)
        }
    }

    @Test func `has a code for each error`() {
        #expect(SignedNotificationError.notification(.badSignature).code == "bad_signature")
        #expect(
            SignedNotificationError.transaction(.badSignature).code == "transaction_bad_signature")
        #expect(SignedNotificationError.transactionMismatch.code == "transaction_mismatch")
    }
}
