import Base
import Testing

@testable import AppStore

/// Receipts that Xcode made, out of Apple's public test data: the only ones that are public.
@Suite(.enabled(if: AppleTestData.isPresent, "Apple's public test data isn't here"))
struct `Apple's public receipts` {
    private func bytes(_ name: String) throws -> [UInt8] {
        try #require(Base64.decode(AppleTestData.text("xcode/" + name)))
    }

    private func verifier(_ roots: [[UInt8]], allowPrivate: Bool) throws -> AppReceiptVerifier {
        AppReceiptVerifier(roots: try RootCertificates(files: roots, allowPrivate: allowPrivate))
    }

    private static let names = ["xcode-app-receipt-empty", "xcode-app-receipt-with-transaction"]

    @Test(arguments: Self.names)
    func `are refused under Apple's real roots`(name: String) throws {
        let roots = try ["AppleRootCA-G3.der", "AppleRootCA.der"].map {
            try AppleTestData.bytes("certs/" + $0)
        }
        let verifier = try verifier(roots, allowPrivate: false)
        let receipt = try bytes(name)
        #expect(throws: AppReceiptError.untrustedChain) { try verifier.verify(receipt, now: noon) }
    }

    @Test(arguments: Self.names)
    func `are refused even if Xcode's certificate is trusted`(name: String) throws {
        let receipt = try bytes(name)
        let root = try SignedMessage(receipt).signer.der
        let verifier = try verifier([root], allowPrivate: true)
        #expect(throws: AppReceiptError.wrongChainLength) {
            try verifier.verify(receipt, now: noon)
        }
    }

    @Test func `read, with lengths left open and the content in pieces`() throws {
        let message = try SignedMessage(bytes("xcode-app-receipt-with-transaction"))
        #expect(message.others.isEmpty)
        let receipt = try AppReceipt(payload: message.content)
        #expect(receipt.environment == .xcode)
        #expect(receipt.bundleID == "com.example.naturelab.backyardbirds.example")
        #expect(receipt.createdAt == 1_697_679_940_000)
        // What was bought is a subscription.
        #expect(receipt.transactions == [])
    }

    @Test func `have a purchase that doesn't name its original`() throws {
        let payload = try SignedMessage(bytes("xcode-app-receipt-with-transaction")).content
        let receipt = try ReceiptAttributes(payload, payload.indices, attributesMax: 100)
        let place = try #require(receipt.all(17).first)
        let purchase = try ReceiptAttributes(payload, place, attributesMax: 100)
        #expect(try purchase.text(1703, "") == "0")
        #expect(try purchase.text(1702, "") == "pass.premium")
        #expect(try purchase.instant(1704, "") == 1_697_679_936_000)
        #expect(try purchase.text(1705, "") == nil)
        #expect(try purchase.instant(1708, "") == 1_700_358_336_000)
    }

    @Test func `may hold no purchase`() throws {
        let message = try SignedMessage(bytes("xcode-app-receipt-empty"))
        #expect(try AppReceipt(payload: message.content).transactions == [])
    }

    @Test(arguments: Self.names)
    func `are refused wherever they are cut off`(name: String) throws {
        let receipt = try bytes(name)
        for end in receipt.indices {
            #expect(throws: AppReceiptError.malformed) { try SignedMessage(Array(receipt[..<end])) }
        }
    }
}
