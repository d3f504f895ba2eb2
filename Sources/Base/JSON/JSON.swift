/// One JSON value (RFC 8259), as read by `JSON.parse` or built to be written.
package enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    /// A number without fraction or exponent that fits 64 bits.
    case integer(Int64)
    /// Any other number, as the text it was written with.
    case decimal(String)
    case string(String)
    case array([JSON])
    case object(JSONObject)

    /// The bytes written for this value: UTF-8, no white space, members in their order.
    package var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.write(self)
        return writer.finish()
    }
}

/// The members of a JSON object in the order they were written. Names are distinct.
package struct JSONObject: Hashable, Sendable {
    package struct Member: Hashable, Sendable {
        package let name: String
        package let value: JSON

        package init(_ name: String, _ value: JSON) {
            self.name = name
            self.value = value
        }
    }

    package private(set) var members: [Member]

    package init(_ members: [Member] = []) {
        self.members = members
    }

    /// The value named `name`, or nil if there is none. Linear: objects here are small.
    package subscript(name: String) -> JSON? {
        members.first { $0.name == name }?.value
    }

    package mutating func append(_ name: String, _ value: JSON) {
        members.append(Member(name, value))
    }

    /// Appends the member if there is a value.
    package mutating func append(_ name: String, _ value: JSON?) {
        if let value { members.append(Member(name, value)) }
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(arrayLiteral elements: JSON...) { self = .array(elements) }
    package init(nilLiteral: ()) { self = .null }
    package init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(JSONObject(elements.map { .init($0.0, $0.1) }))
    }
}

extension JSON {
    package var object: JSONObject? { if case .object(let value) = self { value } else { nil } }
    package var array: [JSON]? { if case .array(let value) = self { value } else { nil } }
    package var string: String? { if case .string(let value) = self { value } else { nil } }
    package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The member of an object, or nil if this isn't an object or has none of that name.
    package subscript(name: String) -> JSON? { object?[name] }
}
