/// The parameters of a query.
package struct QueryParameters: Sendable {
    private var values: [String: [String]] = [:]

    /// - Parameter repeatable: those among `known` that may come more than once.
    /// - Throws: a `Problem` that names the first parameter that isn't among `known` or comes twice.
    package init(
        _ query: String?, known: [String], repeatable: [String] = []
    ) throws(InvalidRequest) {
        for pair in (query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Percent.decode(String(parts[0])),
                let value = parts.count == 2 ? Percent.decode(String(parts[1])) : ""
            else {
                throw InvalidRequest(
                    Problem(.invalidParameter, "The query is wrongly percent-encoded."))
            }
            guard known.contains(name) else {
                throw QueryParameters.invalid(
                    name, "The query has a parameter that isn't known here.")
            }
            guard values[name] == nil || repeatable.contains(name) else {
                throw QueryParameters.invalid(name, "The query has a parameter twice.")
            }
            values[name, default: []].append(value)
        }
    }

    package static func invalid(_ name: String, _ title: String) -> InvalidRequest {
        InvalidRequest(Problem(.invalidParameter, title, detail: name))
    }

    package var isEmpty: Bool { values.isEmpty }

    package func text(_ name: String) -> String? { values[name]?.first }

    /// Every value of a parameter that may come more than once or hold several, with commas between.
    package func list(_ name: String) -> [String] {
        (values[name] ?? []).flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
            .map(String.init)
    }

    /// A whole number in `range`, or `fallback` where there is none.
    package func integer(
        _ name: String, in range: ClosedRange<Int64>, fallback: Int64
    ) throws(InvalidRequest) -> Int64 {
        guard let text = text(name) else { return fallback }
        guard let value = Int64(text), range.contains(value) else {
            throw QueryParameters.invalid(
                name,
                "The parameter must be a whole number from \(range.lowerBound) to "
                    + "\(range.upperBound).")
        }
        return value
    }

    /// `true` or `false`; false where there is none.
    package func bool(_ name: String) throws(InvalidRequest) -> Bool {
        switch text(name) {
        case nil, "false": return false
        case "true": return true
        case .some:
            throw QueryParameters.invalid(name, "The parameter must be true or false.")
        }
    }

    /// A value made of text by its failing initializer; nil where there is none.
    package func value<Value>(
        _ name: String, _ make: (String) -> Value?, mustBe kind: StaticString
    ) throws(InvalidRequest) -> Value? {
        guard let text = text(name) else { return nil }
        guard let value = make(text) else {
            throw QueryParameters.invalid(name, "The parameter must be \(kind).")
        }
        return value
    }
}
