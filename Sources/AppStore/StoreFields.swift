import Base

/// Reads the members of a JSON object that the App Store wrote. A member that is null counts as
/// absent; unknown members are no business of ours.
struct StoreFields {
    private let object: JSONObject

    init(_ object: JSONObject) { self.object = object }

    func required<Value>(
        _ name: String, _ value: Value?
    ) throws(InvalidStoreField) -> Value {
        guard let value else { throw InvalidStoreField(name) }
        return value
    }

    func text(_ name: String) throws(InvalidStoreField) -> String? {
        switch object[name] {
        case nil, .null: return nil
        case .string(let text): return text
        default: throw InvalidStoreField(name)
        }
    }

    func integer(_ name: String) throws(InvalidStoreField) -> Int64? {
        switch object[name] {
        case nil, .null: return nil
        case .integer(let value): return value
        default: throw InvalidStoreField(name)
        }
    }

    /// Milliseconds since 1970. Xcode writes fractions of one, which are cut off.
    func instant(_ name: String) throws(InvalidStoreField) -> Int64? {
        guard case .decimal(let text) = object[name] else { return try integer(name) }
        guard let value = Double(text), let whole = Int64(exactly: value.rounded(.towardZero))
        else { throw InvalidStoreField(name) }
        return whole
    }

    /// A text that older systems wrote as a number; empty counts as absent.
    func looseText(_ name: String) throws(InvalidStoreField) -> String? {
        switch object[name] {
        case nil, .null: return nil
        case .string(let text): return text.isEmpty ? nil : text
        case .integer(let value): return String(value)
        default: throw InvalidStoreField(name)
        }
    }

    /// A whole number, as a number or as text.
    func looseInteger(_ name: String) throws(InvalidStoreField) -> Int64? {
        guard let text = try looseText(name) else { return nil }
        // Int64 would read a leading plus, which no store writes.
        guard let value = Int64(text), !text.hasPrefix("+") else { throw InvalidStoreField(name) }
        return value
    }
}
