/// The numbered attributes of a receipt or of one purchase in it:
/// `SET OF SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }`.
///
/// Source: developer.apple.com, "Validating receipts on the device" and "Receipt Fields".
struct ReceiptAttributes {
    private let bytes: [UInt8]
    /// Where the values of each type lie, in their order.
    private var places: [Int64: [Range<Int>]] = [:]

    /// Reads `set`, the whole of which must be such a set.
    ///
    /// - Throws: `InvalidStoreField` with an empty name.
    init(_ bytes: [UInt8], _ range: Range<Int>, attributesMax: Int) throws(InvalidStoreField) {
        self.bytes = bytes
        do throws(DERError) {
            try read(range, attributesMax)
        } catch {
            throw InvalidStoreField("")
        }
    }

    private mutating func read(_ range: Range<Int>, _ attributesMax: Int) throws(DERError) {
        var reader = DERReader(bytes, range)
        let set = try reader.next(DERElement.Tag.set)
        try reader.expectEnd()
        var attributes = DERReader(bytes, set.content)
        var left = attributesMax
        while let element = try attributes.next() {
            left -= 1
            guard left >= 0 else { throw .tooComplex }
            guard element.tag == DERElement.Tag.sequence else { throw .malformed }
            var fields = DERReader(bytes, element.content)
            let type = try fields.next(DERElement.Tag.integer)
            _ = try fields.next(DERElement.Tag.integer)
            let value = try fields.next(DERElement.Tag.octetString)
            try fields.expectEnd()
            guard let number = DERValues.integer(bytes[type.content]) else { throw .malformed }
            places[number, default: []].append(value.content)
        }
    }

    /// Where the values of an attribute that may be there several times lie.
    func all(_ type: Int64) -> [Range<Int>] { places[type] ?? [] }

    /// A text in UTF-8 or ASCII. An empty one counts as absent: that's how receipts say so.
    func text(_ type: Int64, _ name: String) throws(InvalidStoreField) -> String? {
        let tags = [DERElement.Tag.utf8String, DERElement.Tag.ia5String]
        guard let content = try value(type, name, tags), !content.isEmpty else { return nil }
        guard let text = String(validating: bytes[content], as: UTF8.self) else {
            throw InvalidStoreField(name)
        }
        return text
    }

    func integer(_ type: Int64, _ name: String) throws(InvalidStoreField) -> Int64? {
        guard let content = try value(type, name, [DERElement.Tag.integer]) else { return nil }
        guard let number = DERValues.integer(bytes[content]) else { throw InvalidStoreField(name) }
        return number
    }

    /// Milliseconds since 1970. An empty one counts as absent.
    func instant(_ type: Int64, _ name: String) throws(InvalidStoreField) -> Int64? {
        let tags = [DERElement.Tag.ia5String, DERElement.Tag.utf8String]
        guard let content = try value(type, name, tags), !content.isEmpty else { return nil }
        guard let instant = DERValues.instant(bytes[content]) else { throw InvalidStoreField(name) }
        return instant
    }

    /// Where the content of the one value lies, which must have one of these tags. A value without
    /// any bytes counts as absent.
    private func value(
        _ type: Int64, _ name: String, _ tags: [UInt8]
    ) throws(InvalidStoreField) -> Range<Int>? {
        guard let found = places[type] else { return nil }
        // Of two that differ nobody could say which one is meant.
        guard found.count == 1 else { throw InvalidStoreField(name) }
        guard !found[0].isEmpty else { return nil }
        do throws(DERError) {
            var reader = DERReader(bytes, found[0])
            guard let element = try reader.next(), tags.contains(element.tag) else {
                throw .malformed
            }
            try reader.expectEnd()
            return element.content
        } catch {
            throw InvalidStoreField(name)
        }
    }
}
