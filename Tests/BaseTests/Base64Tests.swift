import Base
import Testing

@Suite struct `Reading and writing base64` {
    // RFC 4648, section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
    func `the vectors of the RFC hold`(plain: String, encoded: String) {
        #expect(Base64.encode(Array(plain.utf8)) == encoded)
        #expect(Base64.decode(encoded) == Array(plain.utf8))
        let unpadded = String(encoded.filter { $0 != "=" })
        #expect(Base64.encode(Array(plain.utf8), .url) == unpadded)
        #expect(Base64.decode(unpadded, .url) == Array(plain.utf8))
    }

    @Test func `the alphabets differ in two characters`() {
        #expect(Base64.encode([0xFB, 0xFF, 0xBF]) == "+/+/")
        #expect(Base64.encode([0xFB, 0xFF, 0xBF], .url) == "-_-_")
        #expect(Base64.decode("-_-_") == nil)
        #expect(Base64.decode("+/+/", .url) == nil)
    }

    @Test(arguments: [
        "Zg", "Zg=", "Zh==", "Zm9=", "Zm9v\n", "Z g=", "=", "====", "Z===", "Zg==Zg==", "Zm9vé",
    ])
    func `anything else is refused`(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test(arguments: ["Z", "Zh", "Zm9", "Zg==", "Zm9vYg\u{0}"])
    func `so it is without padding`(text: String) {
        #expect(Base64.decode(text, .url) == nil)
    }

    /// Long enough for some blocks of eight and a rest.
    @Test func `digits are told from everything else, wherever it stands`() {
        let digits = Set(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        for place in 0..<45 {
            for byte in UInt8.min...UInt8.max {
                var text = [UInt8](repeating: UInt8(ascii: "x"), count: 45)
                text[place] = byte
                let areDigits = text.withUnsafeBufferPointer { Base64.areURLDigits($0) }
                #expect(areDigits == digits.contains(byte), "\(byte) at \(place)")
            }
        }
        #expect([].withUnsafeBufferPointer { Base64.areURLDigits($0) })
    }
}
