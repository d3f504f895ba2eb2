/// Writes ASN.1 in its distinguished encoding (X.690), and in the basic one where a receipt is to
/// look as Xcode's do.
enum DERWriter {
    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        [tag] + length(content.count) + content
    }

    /// With its length left open and two zeros at its end.
    static func openElement(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        [tag, 0x80] + content + [0, 0]
    }

    static func sequence(_ parts: [UInt8]...) -> [UInt8] { element(0x30, parts.flatMap(\.self)) }
    static func set(_ parts: [[UInt8]]) -> [UInt8] { element(0x31, parts.flatMap(\.self)) }
    static func octets(_ bytes: [UInt8]) -> [UInt8] { element(0x04, bytes) }
    static func text(_ text: String) -> [UInt8] { element(0x0C, Array(text.utf8)) }
    static func ascii(_ text: String) -> [UInt8] { element(0x16, Array(text.utf8)) }
    static let null: [UInt8] = [0x05, 0x00]

    /// An octet string in pieces, without a length.
    static func pieces(_ bytes: [UInt8], of size: Int) -> [UInt8] {
        let starts = stride(from: 0, to: bytes.count, by: size)
        let pieces = starts.map { octets(Array(bytes[$0..<min($0 + size, bytes.count)])) }
        return openElement(0x24, pieces.flatMap(\.self))
    }

    /// The fewest bytes of two's complement that keep the sign.
    static func integer(_ value: Int64) -> [UInt8] {
        var bytes = (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
        while bytes.count > 1,
            bytes[0] == 0 && bytes[1] < 0x80 || bytes[0] == 0xFF && bytes[1] >= 0x80
        {
            bytes.removeFirst()
        }
        return element(0x02, bytes)
    }

    private static func length(_ count: Int) -> [UInt8] {
        if count < 0x80 { return [UInt8(count)] }
        var bytes: [UInt8] = []
        var rest = count
        while rest > 0 {
            bytes.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [0x80 | UInt8(bytes.count)] + bytes
    }
}
