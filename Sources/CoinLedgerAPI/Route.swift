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
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        var allowed: [String] = []
        for (route, pattern) in patterns {
            guard let segments = variables(of: parts, in: pattern) else { continue }
            if route.method == method { return .found(route, segments: segments) }
            allowed.append(route.method)
            if route.method == "GET" { allowed.append("HEAD") }
        }
        return allowed.isEmpty ? .notFound : .methodNotAllowed(allowed: allowed)
    }

    private static let patterns = allCases.map { route in
        (route, route.template.split(separator: "/", omittingEmptySubsequences: false))
    }

    private static func variables(of parts: [Substring], in pattern: [Substring]) -> [String]? {
        guard parts.count == pattern.count else { return nil }
        var segments: [String] = []
        for (part, expected) in zip(parts, pattern) {
            if expected.hasPrefix("{") {
                segments.append(String(part))
            } else if part != expected {
                return nil
            }
        }
        return segments
    }
}
