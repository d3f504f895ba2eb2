import Base

/// The parameters of a request's query, decoded. Those that nobody knows are refused.
struct QueryFields {
    private let parameters: [(name: String, value: String)]

    static let parametersMax = 100

    /// Why a query can't be read.
    struct Refusal: Error, Hashable {
        let message: String
    }

    init(_ query: String?, known: Set<String>) throws(Refusal) {
        var parameters: [(name: String, value: String)] = []
        for part in (query ?? "").split(separator: "&") {
            let sides = part.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2, let name = QueryFields.decode(sides[0]),
                let value = QueryFields.decode(sides[1])
            else { throw Refusal(message: "The query can't be read.") }
            guard known.contains(name) else {
                throw Refusal(message: "There's no query parameter \(name).")
            }
            parameters.append((name, value))
        }
        guard parameters.count <= QueryFields.parametersMax else {
            throw Refusal(message: "There are too many query parameters.")
        }
        self.parameters = parameters
    }

    /// Every value of a parameter that may be repeated.
    func all(_ name: String) -> [String] {
        parameters.filter { $0.name == name }.map { $0.value }
    }

    /// The first value, since repeating the parameter has no meaning.
    subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

    private static func decode(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap({ Hex.value($0) }),
                let low = rest.popFirst().flatMap({ Hex.value($0) })
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
