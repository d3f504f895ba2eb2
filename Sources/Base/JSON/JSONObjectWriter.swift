/// Writes one JSON object member by member, straight to its bytes: for what is written so often
/// that building a `JSON` first would cost more than everything else.
///
/// Names are written as they are: ASCII without quotation marks or backslashes.
package struct JSONObjectWriter: ~Copyable {
    private var writer = JSONWriter()
    private var isEmpty = true

    package init() { writer.append("{") }

    /// The whole object.
    package consuming func finish() -> [UInt8] {
        writer.append("}")
        return writer.finish()
    }

    package mutating func member(_ name: StaticString, _ value: String) {
        self.name(name)
        writer.write(value)
    }

    package mutating func member(_ name: StaticString, _ value: Int64) {
        self.name(name)
        writer.write(value)
    }

    package mutating func member(_ name: StaticString, _ value: Bool) {
        self.name(name)
        writer.append(value ? "true" : "false")
    }

    package mutating func null(_ name: StaticString) {
        self.name(name)
        writer.append("null")
    }

    /// Writes null if there is no value.
    package mutating func nullable(_ name: StaticString, _ value: String?) {
        if let value { member(name, value) } else { null(name) }
    }

    /// Writes nothing if there is no value.
    package mutating func member(_ name: StaticString, _ value: String?) {
        if let value { member(name, value) }
    }

    /// Writes an object as the value, with what `members` gives it.
    package mutating func object(
        _ name: StaticString, _ members: (inout JSONObjectWriter) -> Void
    ) {
        self.name(name)
        nested(members)
    }

    /// Writes an array of objects as the value, one for each of `elements`.
    package mutating func objects<Element>(
        _ name: StaticString, _ elements: [Element],
        _ members: (inout JSONObjectWriter, Element) -> Void
    ) {
        self.name(name)
        writer.append("[")
        // Not `enumerated`, which costs other modules more than what they write.
        for index in elements.indices {
            if index > 0 { writer.append(",") }
            nested { members(&$0, elements[index]) }
        }
        writer.append("]")
    }

    private mutating func nested(_ members: (inout JSONObjectWriter) -> Void) {
        writer.append("{")
        isEmpty = true
        members(&self)
        isEmpty = false
        writer.append("}")
    }

    private mutating func name(_ name: StaticString) {
        writer.append(name: name, isFirst: isEmpty)
        isEmpty = false
    }
}
