import Base

/// Reads the members of an answer. A member that is null counts as absent; unknown members are no
/// business of ours.
struct AnswerFields {
    private let object: JSONObject

    init(_ object: JSONObject) { self.object = object }

    init(body: [UInt8]) throws(AppStoreServerError) {
        guard let object = (try? JSON.parse(body))?.object else {
            throw .unavailable(.notJSON)
        }
        self.object = object
    }

    func required<Value>(_ name: String, _ value: Value?) throws(AppStoreServerError) -> Value {
        guard let value else { throw .wrongShape(field: name) }
        return value
    }

    func text(_ name: String) throws(AppStoreServerError) -> String? {
        try member(name) { $0.string }
    }

    func integer(_ name: String) throws(AppStoreServerError) -> Int64? {
        try member(name) { $0.integer }
    }

    func bool(_ name: String) throws(AppStoreServerError) -> Bool? {
        try member(name) { $0.bool }
    }

    func texts(_ name: String) throws(AppStoreServerError) -> [String] {
        var texts: [String] = []
        for element in try required(name, member(name) { $0.array }) {
            texts.append(try required(name, element.string))
        }
        return texts
    }

    func objects(_ name: String) throws(AppStoreServerError) -> [AnswerFields]? {
        guard let elements = try member(name, { $0.array }) else { return nil }
        var objects: [AnswerFields] = []
        for element in elements {
            objects.append(AnswerFields(try required(name, element.object)))
        }
        return objects
    }

    private func member<Value>(
        _ name: String, _ read: (JSON) -> Value?
    ) throws(AppStoreServerError) -> Value? {
        guard let value = object[name], value != .null else { return nil }
        return try required(name, read(value))
    }
}
