/// The header fields of a request, in the order they came, repeated ones kept.
package struct HTTPHeaders: Sendable, Sequence, ExpressibleByDictionaryLiteral {
    private var fields: [(name: String, value: String)]

    package init(_ fields: [(name: String, value: String)] = []) {
        self.fields = fields
    }

    package init(dictionaryLiteral fields: (String, String)...) {
        self.fields = fields.map { (name: $0.0, value: $0.1) }
    }

    package var count: Int { fields.count }

    /// The value of the first field called `name`, whatever the case of its letters.
    package subscript(_ name: String) -> String? {
        fields.first { HTTPHeaders.isSame($0.name, name) }?.value
    }

    /// The values of all fields called `name`, in their order.
    package func values(of name: String) -> [String] {
        var values: [String] = []
        for field in fields where HTTPHeaders.isSame(field.name, name) {
            values.append(field.value)
        }
        return values
    }

    package func makeIterator() -> IndexingIterator<[(name: String, value: String)]> {
        fields.makeIterator()
    }

    mutating func reserveCapacity(_ count: Int) { fields.reserveCapacity(count) }

    mutating func append(name: String, value: String) {
        fields.append((name: name, value: value))
    }

    /// How many fields are called `name`.
    func count(of name: String) -> Int {
        var count = 0
        for field in fields where HTTPHeaders.isSame(field.name, name) { count += 1 }
        return count
    }

    /// Whether two ASCII texts differ at most in the case of their letters.
    static func isSame(_ one: String, _ other: String) -> Bool {
        // The lengths differ for nearly all pairs that are compared.
        guard one.utf8.count == other.utf8.count else { return false }
        let (left, right) = (one.utf8.span, other.utf8.span)
        for index in left.indices where lower(left[index]) != lower(right[index]) { return false }
        return true
    }

    private static func lower(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }
}
