/// The operations of the API and their paths.
package enum Route: String, Hashable, Sendable, CaseIterable {
    case submitReceipt
    case linkAppAccountToken
    case balance
    case accountEvents
    case alive
    case ready
    case metrics
    case openAPI

    package var method: String {
        switch self {
        case .submitReceipt: "POST"
        case .linkAppAccountToken: "PUT"
        case .balance, .accountEvents, .alive, .ready, .metrics, .openAPI: "GET"
        }
    }

    /// The path, with the names of its variable segments in braces.
    package var template: String {
        switch self {
        case .submitReceipt: "/v1/accounts/{accountId}/receipts"
        case .linkAppAccountToken: "/v1/accounts/{accountId}/app-account-token"
        case .balance: "/v1/accounts/{accountId}/balance"
        case .accountEvents: "/v1/accounts/{accountId}/events"
        case .alive: "/livez"
        case .ready: "/readyz"
        case .metrics: "/metrics"
        case .openAPI: "/openapi.json"
        }
    }

    /// The query parameters it takes; any other is an error.
    package var queryParameters: [String] {
        switch self {
        case .accountEvents: ["after", "limit"]
        case .submitReceipt, .linkAppAccountToken, .balance, .alive, .ready, .metrics, .openAPI: []
        }
    }

    package enum Match: Hashable, Sendable {
        /// The operation, and its variable segments in the order of the path, still
        /// percent-encoded.
        case found(Route, segments: [String])
        /// The path is known, but not with this method.
        case methodNotAllowed(allowed: [String])
        case notFound
    }

    /// Finds the operation for a method and a raw path. `HEAD` is taken as `GET`.
    package static func match(method: String, path: String) -> Match {
        let method = method == "HEAD" ? "GET" : method
        let path = Array(path.utf8)
        var allowed: [String] = []
        for (route, pattern) in patterns {
            guard let segments = pattern.variables(of: path) else { continue }
            if route.method == method { return .found(route, segments: segments) }
            allowed.append(route.method)
            if route.method == "GET" { allowed.append("HEAD") }
        }
        return allowed.isEmpty ? .notFound : .methodNotAllowed(allowed: allowed)
    }

    private static let patterns = allCases.map { ($0, PathPattern($0.template)) }
}

/// A path with variable segments, as bytes: every request is compared with all of them.
private struct PathPattern: Sendable {
    /// What stands before, between and after the variables.
    private let literals: [[UInt8]]

    init(_ template: String) {
        var literals: [[UInt8]] = [[]]
        for part in template.utf8 {
            switch part {
            case UInt8(ascii: "{"): literals.append([])
            case UInt8(ascii: "}"): literals[literals.count - 1] = []
            default: literals[literals.count - 1].append(part)
            }
        }
        self.literals = literals
    }

    /// The variable segments of `path`, or nil if it isn't of this pattern.
    func variables(of path: [UInt8]) -> [String]? {
        guard let first = literals.first, path.starts(with: first) else { return nil }
        var rest = path[first.count...]
        var segments: [String] = []
        for literal in literals.dropFirst() {
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            segments.append(String(decoding: rest[..<end], as: UTF8.self))
            guard rest[end...].starts(with: literal) else { return nil }
            rest = rest[(end + literal.count)...]
        }
        return rest.isEmpty ? segments : nil
    }
}
