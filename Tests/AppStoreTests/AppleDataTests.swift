import AppStore
import Base
import Testing

@Suite(.enabled(if: AppleTestData.isPresent, "Apple's public test data isn't here"))
struct `Apple's public test data` {
    private let verifier: SignedTransactionVerifier

    init() throws {
        let root = try AppleTestData.bytes("certs/testCA.der")
        verifier = SignedTransactionVerifier(
            roots: try RootCertificates(files: [root], allowPrivate: true))
    }

    private func payload(_ name: String) throws -> JSON {
        try JSON.parse(
            verifier.verifyPayload(AppleTestData.text("mock_signed_data/" + name), now: noon))
    }

    @Test func `has a transaction that verifies but names no transaction`() throws {
        #expect(try payload("transactionInfo")["bundleId"] == "com.example")
        #expect(throws: SignedDataError.malformedPayload(field: "transactionId")) {
            try verifier.verify(AppleTestData.text("mock_signed_data/transactionInfo"), now: noon)
        }
    }

    @Test func `has other signed data that verifies`() throws {
        #expect(try payload("renewalInfo")["environment"] == "Sandbox")
        #expect(try payload("testNotification")["notificationType"] == "TEST")
    }

    @Test func `has one for another app, which verifies`() throws {
        #expect(try payload("wrongBundleId")["data"]?["bundleId"] == "com.example.wrong")
    }

    @Test func `has one without certificates, which is refused`() throws {
        #expect(throws: SignedDataError.wrongChainLength) {
            try payload("missingX5CHeaderClaim")
        }
    }

    @Test func `is refused under Apple's real roots`() throws {
        let files = try ["AppleRootCA-G3.der", "AppleRootCA.der"].map {
            try AppleTestData.bytes("certs/" + $0)
        }
        let verifier = SignedTransactionVerifier(
            roots: try RootCertificates(files: files, allowPrivate: false))
        #expect(throws: SignedDataError.untrustedChain) {
            try verifier.verifyPayload(
                AppleTestData.text("mock_signed_data/transactionInfo"), now: noon)
        }
    }

    @Test func `has a transaction of Xcode, which reads but isn't believed`() throws {
        let text = try AppleTestData.text("xcode/xcode-signed-transaction")
        #expect(throws: SignedDataError.wrongChainLength) {
            try verifier.verify(text, now: noon)
        }
        let payload = try #require(
            Base64.decode(String(text.split(separator: ".")[1]), .url))
        let transaction = try StoreTransaction(signedPayload: payload)
        #expect(transaction.environment == .xcode)
        #expect(transaction.purchaseDate == 1_697_679_936_049)
        #expect(transaction.transactionID == "0")
    }

    @Test func `has receipts that are told by their shape`() throws {
        for name in ["xcode-app-receipt-empty", "xcode-app-receipt-with-transaction"] {
            let text = try AppleTestData.text("xcode/" + name)
            #expect(try SubmittedReceipt.detect(text) == .appReceipt(base64: text))
        }
        let old = try AppleTestData.text("mock_signed_data/legacyTransaction")
        #expect(throws: ReceiptShapeError.oldReceipt) { try SubmittedReceipt.detect(old) }
        let signed = try AppleTestData.text("mock_signed_data/transactionInfo")
        #expect(try SubmittedReceipt.detect(signed) == .signedTransaction(signed))
    }
}
