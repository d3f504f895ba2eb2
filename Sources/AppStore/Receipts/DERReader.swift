/// Why bytes aren't ASN.1 as it is read here.
enum DERError: Error, Hashable {
    /// A tag, a length or an end that isn't where it must be.
    case malformed
    /// Nested deeper, or of more parts, than anything the App Store makes.
    case tooComplex
}

/// One value in ASN.1's basic or distinguished encoding (X.690): what it is, and where its content
/// lies in the bytes it was read from.
struct DERElement: Hashable {
    let tag: UInt8
    /// Without tag, length and, where the length is indefinite, the end mark.
    let content: Range<Int>

    enum Tag {
        static let integer: UInt8 = 0x02
        static let octetString: UInt8 = 0x04
        static let utf8String: UInt8 = 0x0C
        static let ia5String: UInt8 = 0x16
        /// An octet string in pieces.
        static let octetStrings: UInt8 = 0x24
        static let sequence: UInt8 = 0x30
        static let set: UInt8 = 0x31
    }
}

/// Reads ASN.1 element by element, never beyond its end: whatever the bytes are, the result is an
/// element or an error.
///
/// Takes the basic encoding too, with indefinite lengths, which Xcode writes. Tags of more than one
/// byte aren't known, since nothing the App Store signs has them.
struct DERReader {
    private let bytes: [UInt8]
    private let end: Int
    private var position: Int

    /// Containers of the App Store are nested twelve deep.
    static let depthMax = 24

    init(_ bytes: [UInt8]) {
        self.init(bytes, bytes.indices)
    }

    /// Reads what lies in `range`, which must be inside the bytes.
    init(_ bytes: [UInt8], _ range: Range<Int>) {
        precondition(range.upperBound <= bytes.count, "a part of bytes lies inside them")
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
    }

    /// The next element, or nil at the end.
    mutating func next() throws(DERError) -> DERElement? {
        guard position < end else { return nil }
        return try element(depth: 0)
    }

    /// The next element, which must have this tag.
    mutating func next(_ tag: UInt8) throws(DERError) -> DERElement {
        guard let element = try next(), element.tag == tag else { throw .malformed }
        return element
    }

    /// That nothing comes any more.
    func expectEnd() throws(DERError) {
        guard position == end else { throw .malformed }
    }

    private mutating func element(depth: Int) throws(DERError) -> DERElement {
        guard depth < DERReader.depthMax else { throw .tooComplex }
        let tag = try byte()
        guard tag & 0x1F != 0x1F, tag != 0 else { throw .malformed }
        let first = try byte()
        if first == 0x80 {
            // Only what consists of elements can be ended by one.
            guard tag & 0x20 != 0 else { throw .malformed }
            return DERElement(tag: tag, content: try indefiniteContent(depth))
        }
        let length = try length(first)
        guard length <= end - position else { throw .malformed }
        let start = position
        position += length
        return DERElement(tag: tag, content: start..<position)
    }

    /// Skips elements until two zeros end them.
    private mutating func indefiniteContent(_ depth: Int) throws(DERError) -> Range<Int> {
        let start = position
        while true {
            guard end - position >= 2 else { throw .malformed }
            if bytes[position] == 0, bytes[position + 1] == 0 {
                let content = start..<position
                position += 2
                return content
            }
            _ = try element(depth: depth + 1)
        }
    }

    private mutating func length(_ first: UInt8) throws(DERError) -> Int {
        guard first >= 0x80 else { return Int(first) }
        // Four bytes are more than any receipt has.
        guard first <= 0x84 else { throw .malformed }
        var length = 0
        for _ in 0..<(first & 0x7F) { length = length << 8 | Int(try byte()) }
        return length
    }

    private mutating func byte() throws(DERError) -> UInt8 {
        guard position < end else { throw .malformed }
        defer { position += 1 }
        return bytes[position]
    }
}

extension DERReader {
    /// Looks through everything in `bytes`: one element, nothing after it, and inside it elements
    /// only, so that nothing malformed or absurdly nested reaches a reader that is less careful.
    static func check(_ bytes: [UInt8], elementsMax: Int) throws(DERError) {
        var reader = DERReader(bytes)
        guard let element = try reader.next() else { throw .malformed }
        try reader.expectEnd()
        var left = elementsMax - 1
        try check(element, in: bytes, depth: 1, left: &left)
    }

    private static func check(
        _ element: DERElement, in bytes: [UInt8], depth: Int, left: inout Int
    ) throws(DERError) {
        guard element.tag & 0x20 != 0 else { return }
        guard depth < depthMax else { throw .tooComplex }
        var reader = DERReader(bytes, element.content)
        while let inner = try reader.next() {
            left -= 1
            guard left >= 0 else { throw .tooComplex }
            try check(inner, in: bytes, depth: depth + 1, left: &left)
        }
    }
}
