import AppStore
import Base

/// Why a request to the stand-in isn't one.
struct RequestError: Error, Hashable {
    let status: Int
    let code: String
    let message: String

    static func invalid(_ message: String) -> RequestError {
        RequestError(status: 400, code: "invalid_request", message: message)
    }

    static let notFound = RequestError(
        status: 404, code: "not_found", message: "There is nothing here.")
}

/// Reads the members of a request's JSON object, and refuses those it doesn't know.
struct RequestFields {
    let object: JSONObject

    static let textBytesMax = 255

    init(_ body: [UInt8], known: Set<String>) throws(RequestError) {
        guard let object = (try? JSON.parse(body))?.object else {
            throw .invalid("The body must be a JSON object.")
        }
        if let stranger = object.members.first(where: { !known.contains($0.name) }) {
            throw .invalid("There's no field \(stranger.name).")
        }
        self.object = object
    }

    /// The same for a body that may be missing.
    init(optional body: [UInt8], known: Set<String>) throws(RequestError) {
        try self.init(body.isEmpty ? Array("{}".utf8) : body, known: known)
    }

    func text(_ name: String) throws(RequestError) -> String? {
        switch object[name] {
        case nil, .null: return nil
        case .string(let text) where text.utf8.count <= RequestFields.textBytesMax: return text
        default: throw .invalid("\(name) must be a text of at most 255 bytes.")
        }
    }

    /// An id of a transaction or a device.
    func identifier(_ name: String) throws(RequestError) -> String? {
        guard let text = try text(name) else { return nil }
        guard RequestFields.isIdentifier(text) else {
            throw .invalid("\(name) must be 1 to 64 letters, digits, dots, dashes or underscores.")
        }
        return text
    }

    static func isIdentifier(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil)
                    || "._-".unicodeScalars.contains($0)
            }
    }

    func integer(
        _ name: String, _ range: ClosedRange<Int64> = .min ... .max
    ) throws(RequestError) -> Int64? {
        switch object[name] {
        case nil, .null: return nil
        case .integer(let value) where range.contains(value): return value
        default: throw .invalid("\(name) must be a whole number in its bounds.")
        }
    }

    /// Milliseconds since 1970.
    func instant(_ name: String) throws(RequestError) -> Int64? {
        try integer(name, 0...StoreFieldLimits.instantMax)
    }

    func purchaseFault(_ name: String) throws(RequestError) -> PurchaseFault? {
        guard let text = try text(name) else { return nil }
        guard let fault = PurchaseFault(text) else { throw .invalid("There's no fault \(text).") }
        return fault
    }

    func flag(_ name: String) throws(RequestError) -> Bool? {
        switch object[name] {
        case nil, .null: return nil
        case .bool(let value): return value
        default: throw .invalid("\(name) must be true or false.")
        }
    }

    func object(_ name: String) throws(RequestError) -> JSONObject? {
        switch object[name] {
        case nil, .null: return nil
        case .object(let value): return value
        default: throw .invalid("\(name) must be an object.")
        }
    }
}
