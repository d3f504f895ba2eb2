import Base

/// Percent-encoding (RFC 3986, section 2.1).
package enum Percent {
    /// The decoded text, or nil if an escape is broken or the bytes aren't UTF-8.
    package static func decode(_ text: String) -> String? {
        // Nearly all texts need no decoding.
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        var bytes: [UInt8] = []
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(Hex.value),
                let low = rest.next().flatMap(Hex.value)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
