/// Base64 (RFC 4648), read strictly: one text for each value, and nothing else is accepted.
package enum Base64 {
    /// The two alphabets, with the padding that each is used with here.
    package enum Alphabet: Sendable {
        /// `+` and `/`, padded with `=` to a multiple of four (section 4).
        case standard
        /// `-` and `_`, without padding, as in JWS (section 5 and RFC 7515).
        case url
    }

    package static func encode(_ bytes: [UInt8], _ alphabet: Alphabet = .standard) -> String {
        let digits = alphabet == .standard ? standardDigits : urlDigits
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits: UInt32 = 0
            for byte in group { bits = bits << 8 | UInt32(byte) }
            bits <<= UInt32(8 * (3 - group.count))
            for place in 0...group.count {
                text.append(digits[Int(bits >> UInt32(18 - 6 * place) & 63)])
            }
            if alphabet == .standard {
                for _ in group.count..<3 { text.append(padding) }
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes that `text` stands for, or nil if it holds a character that doesn't belong there
    /// (white space too), is cut off, is wrongly padded, or has stray bits at its end.
    package static func decode(_ text: String, _ alphabet: Alphabet = .standard) -> [UInt8]? {
        var text = text
        return text.withUTF8 { unsafe decode($0.span, alphabet) }
    }

    /// The same for characters in an array.
    package static func decode(_ text: [UInt8], _ alphabet: Alphabet = .standard) -> [UInt8]? {
        let span = text.span
        return decode(span, alphabet)
    }

    /// The same for characters in memory.
    package static func decode(
        _ text: borrowing Span<UInt8>, _ alphabet: Alphabet
    ) -> [UInt8]? {
        guard let count = digitCount(text, alphabet), count % 4 != 1 else { return nil }
        let values = alphabet == .standard ? standardValues : urlValues
        var isValid = false
        let bytes = [UInt8](capacity: count / 4 * 3 + 2) { output in
            var index = 0
            var seen: UInt8 = 0
            while index + 4 <= count {
                let a = values[Int(text[index])]
                let b = values[Int(text[index + 1])]
                let c = values[Int(text[index + 2])]
                let d = values[Int(text[index + 3])]
                seen |= a | b | c | d
                output.append(a << 2 | b >> 4)
                output.append(b << 4 | c >> 2)
                output.append(c << 6 | d)
                index += 4
            }
            isValid = seen < 64 && decodeRest(text, from: index, to: count, values, &output)
        }
        return isValid ? bytes : nil
    }

    /// Whether all of these are digits of `Alphabet.url`.
    package static func areURLDigits(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var index = 0
        while index + ByteBlock.count <= text.count {
            guard unsafe ByteBlock(text, at: index).areURLDigits else { return false }
            index += ByteBlock.count
        }
        let values = urlValues
        while index < text.count {
            guard unsafe values[Int(text[index])] < 64 else { return false }
            index += 1
        }
        return true
    }

    private static let padding = UInt8(ascii: "=")
    private static let standardDigits = digits(last: "+", "/")
    private static let urlDigits = digits(last: "-", "_")
    private static let standardValues = values(standardDigits)
    private static let urlValues = values(urlDigits)

    /// How many characters carry bits, or nil if the padding isn't that of the alphabet.
    private static func digitCount(_ text: borrowing Span<UInt8>, _ alphabet: Alphabet) -> Int? {
        var count = text.count
        guard alphabet == .standard else { return count }
        guard count.isMultiple(of: 4) else { return nil }
        for _ in 0..<2 where count > 0 && text[count - 1] == padding { count -= 1 }
        return count
    }

    /// Reads the last two or three characters, whose unused bits must be zero.
    private static func decodeRest(
        _ text: borrowing Span<UInt8>, from start: Int, to end: Int, _ values: [UInt8],
        _ output: inout OutputSpan<UInt8>
    ) -> Bool {
        guard start < end else { return true }
        let a = values[Int(text[start])]
        let b = values[Int(text[start + 1])]
        guard a | b < 64 else { return false }
        output.append(a << 2 | b >> 4)
        if end - start == 2 { return b & 15 == 0 }
        let c = values[Int(text[start + 2])]
        guard c < 64 else { return false }
        output.append(b << 4 | c >> 2)
        return c & 3 == 0
    }

    private static func digits(last first: Unicode.Scalar, _ second: Unicode.Scalar) -> [UInt8] {
        Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
            + [UInt8(ascii: first), UInt8(ascii: second)]
    }

    /// The value of each character; 255, which no mask lets through, for all others.
    private static func values(_ digits: [UInt8]) -> [UInt8] {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }
}
