import AppStore
import AppStoreStandIn
import Base
import Testing

@Suite struct `What an app submits` {
    /// SEQUENCE, and bytes that need both special characters of the alphabet.
    private static let der: [UInt8] = [
        0x30, 0x82, 0x01, 0xFB, 0xEF, 0xBE, 0xFF, 0xFF, 0xFF, 0x01, 0x02,
    ]
    private static let receipt = Base64.encode(der)

    @Test func `may be a signed transaction`() throws {
        let jws = authority.chain.sign(payload())
        #expect(try SubmittedReceipt.detect(jws) == .signedTransaction(jws))
        #expect(try SubmittedReceipt.detect("\n\(jws) ") == .signedTransaction(jws))
    }

    @Test func `may be an app receipt, in lines or not`() throws {
        let receipt = Self.receipt
        var lines = receipt
        lines.insert(contentsOf: "\r\n", at: lines.index(lines.startIndex, offsetBy: 6))
        lines.insert("\n", at: lines.index(lines.startIndex, offsetBy: 9))
        for text in [receipt, lines + "\n"] {
            #expect(try SubmittedReceipt.detect(text) == .appReceipt(base64: receipt))
        }
    }

    @Test func `may be as large as a receipt of many purchases`() throws {
        let large = Base64.encode([0x30] + [UInt8](repeating: 7, count: 1_500_000))
        #expect(try SubmittedReceipt.detect(large) == .appReceipt(base64: large))
    }

    private static func encoded(_ text: String) -> String { Base64.encode(Array(text.utf8)) }

    private static let oldReceipt = """
        {
        "signature" = "AbC";
        "purchase-info" = "ewoi";
        }
        """

    @Test(arguments: [
        ("", ReceiptShapeError.empty), (" \n", .empty),
        (String(repeating: "A", count: 2_097_153), .tooLarge),
        (#"{"status":0,"receipt":{"in_app":[]}}"#, .verificationResult),
        (encoded(#"{"status":0,"receipt":{"in_app":[]}}"#), .verificationResult),
        (#"{"transactionId":"1"}"#, .json), ("[]", .json), ("{oh", .json),
        (oldReceipt, .oldReceipt), (encoded(oldReceipt), .oldReceipt),
        ("<?xml version=\"1.0\"?><plist/>", .propertyList), ("<plist/>", .propertyList),
        (encoded("<?xml version=\"1.0\"?>"), .propertyList), (encoded("bplist00"), .propertyList),
        ("<30820102 30>", .markup), ("<html></html>", .markup),
        ("\"\(receipt)\"", .quoted),
        ("MIIT%2BAYJ", .percentEncoded), ("2000000901234567", .transactionID),
        ("e30.e30", .notASignedTransaction), ("e30.e30.!", .notASignedTransaction),
        ("e30..e30", .notASignedTransaction), ("receipt.txt", .notASignedTransaction),
        (receipt.map { $0 == "+" ? " " : String($0) }.joined(), .blanksInBase64),
        (receipt.map { $0 == "+" ? "-" : $0 == "/" ? "_" : String($0) }.joined(), .urlBase64),
        (String(receipt.dropLast()), .notBase64), ("MII*", .notBase64), ("MIIé", .notBase64),
        (Hex.encode(der), .hexadecimal), (encoded(receipt), .doubleBase64),
        (encoded("eyJhbGciOiJFUzI1NiJ9.e30.AA"), .doubleBase64), (encoded("hello"), .notAReceipt),
    ])
    func `is named if it is something else`(text: String, error: ReceiptShapeError) {
        #expect(throws: error) { try SubmittedReceipt.detect(text) }
    }

    @Test func `has a code and a sentence of its own for each error`() {
        let errors = ReceiptShapeError.allCases
        #expect(Set(errors.map(\.code)).count == errors.count)
        #expect(Set(errors.map(\.message)).count == errors.count)
        #expect(errors.allSatisfy { $0.message.hasSuffix(".") })
    }

    @Test func `never traps when it is cut or changed`() {
        var numbers = SeededRandom(seed: 18)
        for source in [Self.receipt, Self.oldReceipt, "e30.e30.AA", #"{"status":0}"#] {
            let bytes = Array(source.utf8)
            for end in 0...bytes.count {
                _ = try? SubmittedReceipt.detect(String(decoding: bytes[..<end], as: UTF8.self))
            }
            for _ in 0..<500 {
                var changed = bytes
                changed[.random(in: 0..<bytes.count, using: &numbers)] = .random(
                    in: 0...255, using: &numbers)
                _ = try? SubmittedReceipt.detect(String(decoding: changed, as: UTF8.self))
            }
        }
    }
}
