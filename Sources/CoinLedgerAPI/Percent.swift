import Base

/// Percent-encoding (RFC 3986, section 2.1).
package enum Percent {
    /// The decoded text, or nil if an escape is broken or the bytes aren't UTF-8.
    package static func decode(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(Hex.value),
                let low = rest.next().flatMap(Hex.value)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// The parameters of a query.
package struct QueryParameters: Sendable {
    private let values: [String: String]

    /// - Throws: a `Problem` that names the first parameter that isn't among `known` or comes twice.
    package init(_ query: String?, known: [String]) throws(InvalidRequest) {
        var values: [String: String] = [:]
        for pair in (query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Percent.decode(parts[0]),
                let value = parts.count == 2 ? Percent.decode(parts[1]) : ""
            else {
                throw InvalidRequest(
                    Problem(.invalidParameter, "The query is wrongly percent-encoded."))
            }
            guard known.contains(name) else {
                throw InvalidRequest(
                    Problem(
                        .invalidParameter, "The query has a parameter that isn't known here.",
                        detail: name))
            }
            guard values.updateValue(value, forKey: name) == nil else {
                throw InvalidRequest(
                    Problem(.invalidParameter, "The query has a parameter twice.", detail: name))
            }
        }
        self.values = values
    }

    /// A whole number in `range`, or `fallback` where there is none.
    package func integer(
        _ name: String, in range: ClosedRange<Int64>, fallback: Int64
    ) throws(InvalidRequest) -> Int64 {
        guard let text = values[name] else { return fallback }
        guard let value = Int64(text), range.contains(value) else {
            throw InvalidRequest(
                Problem(
                    .invalidParameter,
                    "The parameter must be a whole number from \(range.lowerBound) to "
                        + "\(range.upperBound).", detail: name))
        }
        return value
    }
}
