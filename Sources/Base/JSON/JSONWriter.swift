/// Writes JSON as UTF-8 without white space.
struct JSONWriter: ~Copyable {
    private var output = ByteWriter(capacity: 1024)

    /// What has been written.
    consuming func finish() -> [UInt8] { output.finish() }

    mutating func write(_ value: JSON) {
        switch value {
        case .null: append("null")
        case .bool(let value): append(value ? "true" : "false")
        case .integer(let value): write(value)
        case .decimal(let text): output.append(text.utf8.span)
        case .string(let text): write(text)
        case .array(let elements):
            append("[")
            for (index, element) in elements.enumerated() {
                if index > 0 { append(",") }
                write(element)
            }
            append("]")
        case .object(let object): write(object)
        }
    }

    private mutating func write(_ object: JSONObject) {
        append("{")
        for (index, member) in object.members.enumerated() {
            if index > 0 { append(",") }
            write(member.name)
            append(":")
            write(member.value)
        }
        append("}")
    }

    mutating func write(_ value: Int64) {
        if value < 0 { append("-") }
        output.append(decimal: value.magnitude)
    }

    mutating func write(_ text: String) {
        output.append(UInt8(ascii: "\""))
        writeEscaped(text.utf8.span)
        output.append(UInt8(ascii: "\""))
    }

    /// A member's name, which needs no escapes, and what stands around it.
    mutating func append(name: StaticString, isFirst: Bool) {
        if !isFirst { output.append(UInt8(ascii: ",")) }
        output.append(UInt8(ascii: "\""))
        output.append(name)
        output.append(UInt8(ascii: "\""))
        output.append(UInt8(ascii: ":"))
    }

    /// Appends text that is JSON already.
    mutating func append(_ text: StaticString) { output.append(text) }

    private mutating func writeEscaped(_ text: borrowing Span<UInt8>) {
        var start = 0
        while true {
            let end = text.plainJSONEnd(from: start).index
            output.append(text.extracting(start..<end))
            guard end < text.count else { return }
            writeEscape(text[end])
            start = end + 1
        }
    }

    private mutating func writeEscape(_ byte: UInt8) {
        append("\\")
        switch byte {
        case 0x0A: append("n")
        case 0x0D: append("r")
        case 0x09: append("t")
        case 0..<0x20:
            append("u00")
            output.append(Hex.digit(byte >> 4))
            output.append(Hex.digit(byte & 15))
        default: output.append(byte)
        }
    }
}
