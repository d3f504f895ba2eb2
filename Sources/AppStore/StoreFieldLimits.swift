/// What each kind of field may hold. Apple documents hardly any bounds; these are far above
/// whatever was seen, and far below what could hurt.
package enum StoreFieldLimits {
    package static let identifierBytesMax = 64
    package static let nameBytesMax = 255
    package static let textBytesMax = 64
    /// 9999-12-31T23:59:59.999Z, the last instant that RFC 3339 can write.
    package static let instantMax: Int64 = 253_402_300_799_999

    /// A transaction id.
    static func identifier(_ field: String, _ value: String) throws(InvalidStoreField) -> String {
        let isValid =
            (1...identifierBytesMax).contains(value.utf8.count)
            && value.utf8.allSatisfy(isIdentifierByte)
        guard isValid else { throw InvalidStoreField(field) }
        return value
    }

    /// The identifier of an app or a product.
    static func name(_ field: String, _ value: String) throws(InvalidStoreField) -> String {
        let isValid =
            (1...nameBytesMax).contains(value.utf8.count)
            && value.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard isValid else { throw InvalidStoreField(field) }
        return value
    }

    /// A short text that is kept as it came: no control characters, since databases and logs
    /// choke on them.
    static func text(_ field: String, _ value: String?) throws(InvalidStoreField) -> String? {
        guard let value else { return nil }
        let isValid =
            value.utf8.count <= textBytesMax
            && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        guard isValid else { throw InvalidStoreField(field) }
        return value
    }

    static func number(
        _ field: String, _ value: Int64, _ range: ClosedRange<Int64>
    ) throws(InvalidStoreField) -> Int64 {
        guard range.contains(value) else { throw InvalidStoreField(field) }
        return value
    }

    static func instant(_ field: String, _ value: Int64) throws(InvalidStoreField) -> Int64 {
        try number(field, value, 0...instantMax)
    }

    /// A UUID, in lower case.
    static func uuid(_ field: String, _ value: String) throws(InvalidStoreField) -> String {
        let bytes = Array(value.utf8)
        guard bytes.count == 36 else { throw InvalidStoreField(field) }
        for (index, byte) in bytes.enumerated() {
            let isValid =
                [8, 13, 18, 23].contains(index)
                ? byte == UInt8(ascii: "-") : isHexadecimal(byte)
            guard isValid else { throw InvalidStoreField(field) }
        }
        return value.lowercased()
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    private static func isIdentifierByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
