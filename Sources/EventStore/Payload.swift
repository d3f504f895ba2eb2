import Base
import CoinLedger

enum PayloadError: Error {
    /// The named field is missing or not of its type.
    case malformed(String)
}

/// The fields of a stored JSON object.
struct Payload {
    private let object: JSONObject

    init(_ bytes: [UInt8]) throws(PayloadError) {
        let parsed: JSON
        do { parsed = try JSON.parse(bytes) } catch { throw .malformed("not JSON") }
        try self.init(parsed, "an object")
    }

    private init(_ json: JSON?, _ name: String) throws(PayloadError) {
        guard let object = json?.object else { throw .malformed(name) }
        self.object = object
    }

    func string(_ name: String) throws(PayloadError) -> String {
        guard let text = object[name]?.string else { throw .malformed(name) }
        return text
    }

    func integer(_ name: String) throws(PayloadError) -> Int64 {
        guard let value = object[name]?.integer else { throw .malformed(name) }
        return value
    }

    func bool(_ name: String) throws(PayloadError) -> Bool {
        guard let value = object[name]?.bool else { throw .malformed(name) }
        return value
    }

    /// A number of things that are counted from 1, within what every JSON reader holds exactly.
    func count(_ name: String) throws(PayloadError) -> Int64 {
        let value = try integer(name)
        guard (1...Coins.amountMax).contains(value) else { throw .malformed(name) }
        return value
    }

    func coins(_ name: String) throws(PayloadError) -> Coins {
        guard let coins = Coins(try integer(name)) else { throw .malformed(name) }
        return coins
    }

    /// A value made of text by its failing initializer.
    func value<Value>(
        _ name: String, _ make: (String) -> Value?
    ) throws(PayloadError) -> Value {
        guard let value = make(try string(name)) else { throw .malformed(name) }
        return value
    }

    func optional<Value>(
        _ name: String, _ read: (JSON) -> Value?
    ) throws(PayloadError) -> Value? {
        guard let json = object[name] else { return nil }
        guard let value = read(json) else { throw .malformed(name) }
        return value
    }

    func optionalValue<Value>(
        _ name: String, _ make: (String) -> Value?
    ) throws(PayloadError) -> Value? {
        object[name] == nil ? nil : try value(name, make)
    }

    func has(_ name: String) -> Bool { object[name] != nil }

    func payload(_ name: String) throws(PayloadError) -> Payload {
        try Payload(object[name], name)
    }

    func payloads(_ name: String) throws(PayloadError) -> [Payload] {
        guard let elements = object[name]?.array else { throw .malformed(name) }
        var payloads: [Payload] = []
        for element in elements { payloads.append(try Payload(element, name)) }
        return payloads
    }

    /// An array of objects, each of which is read in the same way.
    func list<Value>(
        _ name: String, _ read: (Payload) throws(PayloadError) -> Value
    ) throws(PayloadError) -> [Value] {
        var values: [Value] = []
        for payload in try payloads(name) { values.append(try read(payload)) }
        return values
    }
}
