package import Base

/// The fields of a request's JSON object, each of which must be known.
package struct RequestBody: Sendable {
    private let object: JSONObject

    /// - Throws: a `Problem` that names what is wrong.
    package init(_ bytes: [UInt8], fields: [String]) throws(InvalidRequest) {
        try self.init(try RequestBody.object(bytes), fields: fields)
    }

    package init(_ object: JSONObject, fields: [String]) throws(InvalidRequest) {
        for member in object.members where !fields.contains(member.name) {
            throw RequestBody.invalid(member.name, "The body has a field that isn't known here.")
        }
        self.object = object
    }

    /// The JSON object that `bytes` are.
    package static func object(_ bytes: [UInt8]) throws(InvalidRequest) -> JSONObject {
        let json: JSON
        do throws(JSONError) {
            json = try JSON.parse(bytes)
        } catch {
            throw InvalidRequest(Problem(.malformedJSON, error.sentence))
        }
        guard let object = json.object else {
            throw InvalidRequest(Problem(.invalidBody, "The body must be a JSON object."))
        }
        return object
    }

    package static func invalid(_ name: String, _ title: String) -> InvalidRequest {
        InvalidRequest(Problem(.invalidBody, title, detail: name))
    }

    /// The same bytes for the same fields, in whatever order and with whatever white space they came.
    package var canonicalBytes: [UInt8] {
        JSON.object(JSONObject(object.members.sorted { $0.name < $1.name })).bytes
    }

    package func has(_ name: String) -> Bool { object[name] != nil }

    package func isNull(_ name: String) -> Bool { object[name] == .null }

    package func string(_ name: String) throws(InvalidRequest) -> String {
        guard let value = object[name] else { throw lacks(name) }
        guard let text = value.string else {
            throw RequestBody.invalid(name, "The field must be a text.")
        }
        return text
    }

    package func bool(_ name: String) throws(InvalidRequest) -> Bool {
        guard let value = object[name] else { throw lacks(name) }
        guard let flag = value.bool else {
            throw RequestBody.invalid(name, "The field must be true or false.")
        }
        return flag
    }

    /// Prose: so many bytes of UTF-8 without control characters.
    package func text(
        _ name: String, bytes: ClosedRange<Int>
    ) throws(InvalidRequest) -> String {
        let text = try string(name)
        guard bytes.contains(text.utf8.count), text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else {
            throw RequestBody.invalid(
                name,
                "The field must have \(bytes.lowerBound) to \(bytes.upperBound) bytes and no "
                    + "control characters.")
        }
        return text
    }

    /// An id that the backend chose: 1 to 64 of `A–Z a–z 0–9 . _ : -`.
    package func identifier(_ name: String) throws(InvalidRequest) -> String {
        let text = try string(name)
        guard (1...RequestBody.identifierBytesMax).contains(text.utf8.count),
            text.utf8.allSatisfy(RequestBody.isIdentifierByte)
        else {
            throw RequestBody.invalid(
                name,
                "The field must be 1 to 64 of the letters A to Z and a to z, digits, and . _ : -")
        }
        return text
    }

    package func optionalIdentifier(_ name: String) throws(InvalidRequest) -> String? {
        has(name) ? try identifier(name) : nil
    }

    package func integer(
        _ name: String, in range: ClosedRange<Int64>
    ) throws(InvalidRequest) -> Int64 {
        guard let json = object[name] else { throw lacks(name) }
        guard let value = json.integer, range.contains(value) else {
            throw RequestBody.invalid(
                name,
                "The field must be a whole number from \(range.lowerBound) to "
                    + "\(range.upperBound).")
        }
        return value
    }

    /// Nil where the field is missing or something else than a whole number.
    package func integerIfAny(_ name: String) -> Int64? { object[name]?.integer }

    package func optionalInteger(
        _ name: String, in range: ClosedRange<Int64>
    ) throws(InvalidRequest) -> Int64? {
        has(name) ? try integer(name, in: range) : nil
    }

    /// A value made of text by its failing initializer.
    package func value<Value>(
        _ name: String, _ make: (String) -> Value?, mustBe kind: StaticString
    ) throws(InvalidRequest) -> Value {
        guard let value = make(try string(name)) else {
            throw RequestBody.invalid(name, "The field must be \(kind).")
        }
        return value
    }

    package func optionalValue<Value>(
        _ name: String, _ make: (String) -> Value?, mustBe kind: StaticString
    ) throws(InvalidRequest) -> Value? {
        has(name) ? try value(name, make, mustBe: kind) : nil
    }

    /// Refuses fields that are known, but not together with others that are there.
    package func refuse(_ names: [String], beside other: StaticString) throws(InvalidRequest) {
        for name in names where has(name) {
            throw RequestBody.invalid(name, "The field doesn't go together with \(other).")
        }
    }

    private static let identifierBytesMax = 64

    private static func isIdentifierByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: ":"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private func lacks(_ name: String) -> InvalidRequest {
        RequestBody.invalid(name, "The body lacks a required field.")
    }
}

/// A request that can't be acted on, and what to answer.
package struct InvalidRequest: Error, Sendable {
    package let problem: Problem

    package init(_ problem: Problem) { self.problem = problem }
}

extension JSONError {
    fileprivate var sentence: String {
        switch self {
        case .syntax(let offset): "The body isn't JSON; see byte \(offset)."
        case .notUTF8(let offset): "The body isn't UTF-8; see byte \(offset)."
        case .duplicateName: "The body has one field twice."
        case .tooDeep: "The body is nested too deeply."
        }
    }
}
