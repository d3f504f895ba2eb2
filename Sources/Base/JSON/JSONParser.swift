/// Why a text isn't acceptable JSON. Offsets are in bytes from its start.
package enum JSONError: Error, Equatable {
    case syntax(offset: Int)
    case notUTF8(offset: Int)
    case duplicateName(String)
    case tooDeep(offset: Int)
}

extension JSON {
    /// Arrays and objects nested deeper than this are refused.
    package static let depthMax = 32

    /// Reads one JSON text, strictly: RFC 8259 and nothing more, no name twice in an object.
    ///
    /// - Throws: `JSONError` for anything else, with the place where it was found.
    package static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSON {
        try parse(bytes.span)
    }

    package static func parse(_ bytes: borrowing Span<UInt8>) throws(JSONError) -> JSON {
        var parser = JSONParser(count: bytes.count)
        let value = try parser.value(bytes, depth: 0)
        parser.skipSpace(bytes)
        guard parser.offset == bytes.count else { throw .syntax(offset: parser.offset) }
        return value
    }
}

/// Reads JSON by recursive descent; the depth limit bounds the recursion.
private struct JSONParser {
    private(set) var offset = 0
    private let count: Int

    init(count: Int) { self.count = count }

    mutating func value(_ bytes: borrowing Span<UInt8>, depth: Int) throws(JSONError) -> JSON {
        skipSpace(bytes)
        guard offset < count else { throw .syntax(offset: offset) }
        switch bytes[offset] {
        case UInt8(ascii: "{"): return try object(bytes, depth: depth + 1)
        case UInt8(ascii: "["): return try array(bytes, depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try string(bytes))
        case UInt8(ascii: "t"): return try literal("true", .bool(true), bytes)
        case UInt8(ascii: "f"): return try literal("false", .bool(false), bytes)
        case UInt8(ascii: "n"): return try literal("null", .null, bytes)
        default: return try number(bytes)
        }
    }

    mutating func skipSpace(_ bytes: borrowing Span<UInt8>) {
        while offset < count {
            switch bytes[offset] {
            case 0x20, 0x0A, 0x0D, 0x09: offset += 1
            default: return
            }
        }
    }

    private mutating func object(
        _ bytes: borrowing Span<UInt8>, depth: Int
    ) throws(JSONError) -> JSON {
        guard depth <= JSON.depthMax else { throw .tooDeep(offset: offset) }
        offset += 1
        var members: [JSONObject.Member] = []
        skipSpace(bytes)
        if take(UInt8(ascii: "}"), bytes) { return .object(JSONObject()) }
        repeat {
            skipSpace(bytes)
            guard offset < count, bytes[offset] == UInt8(ascii: "\"") else {
                throw .syntax(offset: offset)
            }
            let name = try string(bytes)
            skipSpace(bytes)
            guard take(UInt8(ascii: ":"), bytes) else { throw .syntax(offset: offset) }
            members.append(.init(name, try value(bytes, depth: depth)))
            skipSpace(bytes)
        } while take(UInt8(ascii: ","), bytes)
        guard take(UInt8(ascii: "}"), bytes) else { throw .syntax(offset: offset) }
        try refuseDuplicates(members)
        return .object(JSONObject(members))
    }

    private static let comparedNamesMax = 32

    /// One of 64 kinds of names; the same for the same name.
    private static func kind(of name: String.UTF8View) -> UInt64 {
        guard let first = name.first, let last = name.last else { return 0 }
        return (UInt64(name.count) &* 7 &+ UInt64(first) &* 3 &+ UInt64(last)) & 63
    }

    private func refuseDuplicates(_ members: [JSONObject.Member]) throws(JSONError) {
        // Objects have few members, whose names mostly differ in length or at their ends, so that
        // hardly any are compared; a set keeps a hostile object of many thousands linear.
        if members.count <= JSONParser.comparedNamesMax {
            var seen: UInt64 = 0
            for (index, member) in members.enumerated() {
                let kind: UInt64 = 1 << JSONParser.kind(of: member.name.utf8)
                if seen & kind != 0 {
                    for earlier in members[..<index] where earlier.name == member.name {
                        throw .duplicateName(member.name)
                    }
                }
                seen |= kind
            }
            return
        }
        var seen: Set<String> = []
        for member in members where !seen.insert(member.name).inserted {
            throw .duplicateName(member.name)
        }
    }

    private mutating func array(
        _ bytes: borrowing Span<UInt8>, depth: Int
    ) throws(JSONError) -> JSON {
        guard depth <= JSON.depthMax else { throw .tooDeep(offset: offset) }
        offset += 1
        var elements: [JSON] = []
        skipSpace(bytes)
        if take(UInt8(ascii: "]"), bytes) { return .array([]) }
        repeat {
            elements.append(try value(bytes, depth: depth))
            skipSpace(bytes)
        } while take(UInt8(ascii: ","), bytes)
        guard take(UInt8(ascii: "]"), bytes) else { throw .syntax(offset: offset) }
        return .array(elements)
    }

    private mutating func take(_ byte: UInt8, _ bytes: borrowing Span<UInt8>) -> Bool {
        guard offset < count, bytes[offset] == byte else { return false }
        offset += 1
        return true
    }

    private mutating func literal(
        _ text: StaticString, _ value: JSON, _ bytes: borrowing Span<UInt8>
    ) throws(JSONError) -> JSON {
        let length = text.utf8CodeUnitCount
        guard offset + length <= count else { throw .syntax(offset: offset) }
        let same = "\(text)".utf8.enumerated().allSatisfy {
            bytes[offset + $0.offset] == $0.element
        }
        guard same else { throw .syntax(offset: offset) }
        offset += length
        return value
    }

    private mutating func digits(_ bytes: borrowing Span<UInt8>) -> Int {
        let start = offset
        while offset < count, bytes[offset] >= UInt8(ascii: "0"), bytes[offset] <= UInt8(ascii: "9")
        {
            offset += 1
        }
        return offset - start
    }

    private mutating func number(_ bytes: borrowing Span<UInt8>) throws(JSONError) -> JSON {
        let start = offset
        let negative = take(UInt8(ascii: "-"), bytes)
        let first = offset
        let integerDigits = digits(bytes)
        guard integerDigits > 0, integerDigits == 1 || bytes[first] != UInt8(ascii: "0") else {
            throw .syntax(offset: offset)
        }
        var isInteger = true
        if take(UInt8(ascii: "."), bytes) {
            isInteger = false
            guard digits(bytes) > 0 else { throw .syntax(offset: offset) }
        }
        if take(UInt8(ascii: "e"), bytes) || take(UInt8(ascii: "E"), bytes) {
            isInteger = false
            if !take(UInt8(ascii: "+"), bytes) { _ = take(UInt8(ascii: "-"), bytes) }
            guard digits(bytes) > 0 else { throw .syntax(offset: offset) }
        }
        if isInteger, integerDigits <= 18 {
            var value: Int64 = 0
            for index in first..<offset {
                value = value * 10 + Int64(bytes[index] - UInt8(ascii: "0"))
            }
            return .integer(negative ? -value : value)
        }
        let text = try text(bytes, start..<offset)
        if isInteger, let value = Int64(text) { return .integer(value) }
        return .decimal(text)
    }

    private mutating func string(_ bytes: borrowing Span<UInt8>) throws(JSONError) -> String {
        offset += 1
        let start = offset
        let (index, isASCII) = bytes.plainJSONEnd(from: start)
        offset = index
        guard index < count, bytes[index] >= 0x20 else { throw .syntax(offset: index) }
        guard bytes[index] == UInt8(ascii: "\"") else {
            return try escapedString(bytes, from: start)
        }
        offset += 1
        return isASCII ? asciiText(bytes, start..<index) : try text(bytes, start..<index)
    }

    private mutating func escapedString(
        _ bytes: borrowing Span<UInt8>, from start: Int
    ) throws(JSONError) -> String {
        var buffer: [UInt8] = []
        for index in start..<offset { buffer.append(bytes[index]) }
        while offset < count {
            let byte = bytes[offset]
            offset += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: buffer, as: UTF8.self) else {
                    throw .notUTF8(offset: start)
                }
                return text
            case UInt8(ascii: "\\"): try escape(bytes, into: &buffer)
            case 0..<0x20: throw .syntax(offset: offset - 1)
            default: buffer.append(byte)
            }
        }
        throw .syntax(offset: offset)
    }

    private mutating func escape(
        _ bytes: borrowing Span<UInt8>, into buffer: inout [UInt8]
    ) throws(JSONError) {
        guard offset < count else { throw .syntax(offset: offset) }
        let byte = bytes[offset]
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): buffer.append(byte)
        case UInt8(ascii: "b"): buffer.append(0x08)
        case UInt8(ascii: "f"): buffer.append(0x0C)
        case UInt8(ascii: "n"): buffer.append(0x0A)
        case UInt8(ascii: "r"): buffer.append(0x0D)
        case UInt8(ascii: "t"): buffer.append(0x09)
        case UInt8(ascii: "u"):
            let scalar = try unicodeEscape(bytes)
            buffer.append(contentsOf: String(scalar).utf8)
        default: throw .syntax(offset: offset - 1)
        }
    }

    /// Reads four hexadecimal digits and, for a high surrogate, the `\u` low surrogate after it.
    private mutating func unicodeEscape(
        _ bytes: borrowing Span<UInt8>
    ) throws(JSONError) -> Unicode.Scalar {
        let first = try codeUnit(bytes)
        var value = UInt32(first)
        if UTF16.isLeadSurrogate(first) {
            guard take(UInt8(ascii: "\\"), bytes), take(UInt8(ascii: "u"), bytes) else {
                throw .syntax(offset: offset)
            }
            let second = try codeUnit(bytes)
            guard UTF16.isTrailSurrogate(second) else { throw .syntax(offset: offset) }
            value = 0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(value) else { throw .syntax(offset: offset) }
        return scalar
    }

    private mutating func codeUnit(_ bytes: borrowing Span<UInt8>) throws(JSONError) -> UInt16 {
        guard offset + 4 <= count else { throw .syntax(offset: offset) }
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = Hex.value(bytes[offset]) else { throw .syntax(offset: offset) }
            value = value << 4 | UInt16(digit)
            offset += 1
        }
        return value
    }

    /// The text of bytes that are known to be ASCII, which needs no validation.
    private func asciiText(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) -> String {
        let part = bytes.extracting(range)
        return unsafe part.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }

    private func text(
        _ bytes: borrowing Span<UInt8>, _ range: Range<Int>
    ) throws(JSONError) -> String {
        let part = bytes.extracting(range)
        let text = unsafe part.withUnsafeBufferPointer {
            unsafe String(validating: $0, as: UTF8.self)
        }
        guard let text else { throw .notUTF8(offset: range.lowerBound) }
        return text
    }
}
