import Base

/// Ids that nobody else has.
enum RandomID {
    /// A UUID of version 4 (RFC 9562) in lower case.
    static func uuid() -> String {
        var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let parts = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]
        return parts.map { Hex.encode(bytes[$0]) }.joined(separator: "-")
    }

    /// Ten capital letters and digits, as the ids of API keys are.
    static func apiKey() -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)
        let text = (0..<10).map { _ in digits[Int.random(in: 0..<digits.count)] }
        return String(decoding: text, as: UTF8.self)
    }
}
