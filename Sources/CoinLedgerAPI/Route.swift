/// The operations of the API and their paths.
package enum Route: String, Hashable, Sendable, CaseIterable {
    case submitReceipt
    case spend
    case balance
    case grant
    case reverseSpend
    case adjust
    case hold
    case captureHold
    case releaseHold
    case batch
    case linkAppAccountToken
    case recordConsent
    case consent
    case accountEvents
    case accountLots
    case event
    case transaction
    case consumption
    case redeliver
    case order
    case supportPurchases
    case refund
    case receiveNotification
    case notifications
    case notification
    case retryNotification
    case alive
    case ready
    case metrics
    case openAPI

    package var method: String {
        switch self {
        case .submitReceipt, .spend, .grant, .reverseSpend, .adjust, .hold, .captureHold,
            .releaseHold, .batch, .redeliver, .refund, .receiveNotification, .retryNotification:
            "POST"
        case .linkAppAccountToken, .recordConsent: "PUT"
        case .consent, .balance, .accountEvents, .accountLots, .event, .transaction, .consumption,
            .order, .supportPurchases, .notifications, .notification, .alive, .ready, .metrics,
            .openAPI:
            "GET"
        }
    }

    /// The path, with the names of its variable segments in braces.
    package var template: String {
        switch self {
        case .submitReceipt: "/v1/accounts/{accountId}/receipts"
        case .spend: "/v1/accounts/{accountId}/spends"
        case .balance: "/v1/accounts/{accountId}/balance"
        case .grant: "/v1/accounts/{accountId}/grants"
        case .reverseSpend: "/v1/accounts/{accountId}/spends/{eventId}/reversal"
        case .adjust: "/v1/accounts/{accountId}/adjustments"
        case .hold: "/v1/accounts/{accountId}/holds"
        case .captureHold: "/v1/accounts/{accountId}/holds/{holdId}/capture"
        case .releaseHold: "/v1/accounts/{accountId}/holds/{holdId}/release"
        case .batch: "/v1/batches"
        case .linkAppAccountToken: "/v1/accounts/{accountId}/app-account-token"
        case .recordConsent, .consent: "/v1/accounts/{accountId}/consent"
        case .accountEvents: "/v1/accounts/{accountId}/events"
        case .accountLots: "/v1/accounts/{accountId}/lots"
        case .event: "/v1/events/{eventId}"
        case .transaction: "/v1/transactions/{transactionId}"
        case .consumption: "/v1/transactions/{transactionId}/consumption"
        case .redeliver: "/v1/transactions/{transactionId}/redelivery"
        case .order: "/v1/orders/{orderId}"
        case .supportPurchases: "/v1/support/purchases"
        case .refund: "/v1/refunds"
        case .receiveNotification, .notifications: "/v1/app-store/notifications"
        case .notification: "/v1/app-store/notifications/{notificationUuid}"
        case .retryNotification: "/v1/app-store/notifications/{notificationUuid}/retry"
        case .alive: "/livez"
        case .ready: "/readyz"
        case .metrics: "/metrics"
        case .openAPI: "/openapi.json"
        }
    }

    /// The query parameters it takes; any other is an error.
    package var queryParameters: [String] {
        switch self {
        case .spend, .grant, .reverseSpend, .adjust, .hold, .captureHold, .releaseHold, .batch:
            ["dryRun"]
        case .balance: ["at", "eventId", "byLot"]
        case .accountEvents: ["type", "from", "until", "after", "limit"]
        case .accountLots: ["openOnly", "after", "limit"]
        case .transaction, .consumption: ["environment"]
        case .supportPurchases:
            ["transactionId", "orderId", "accountId", "productId", "date", "zone"]
        case .notifications: ["state", "after", "limit"]
        case .submitReceipt, .linkAppAccountToken, .recordConsent, .consent, .event, .redeliver,
            .order, .refund, .receiveNotification, .notification, .retryNotification, .alive,
            .ready, .metrics, .openAPI:
            []
        }
    }

    /// Those that may come more than once.
    package var repeatableParameters: [String] { self == .accountEvents ? ["type"] : [] }

    /// Whether a request needs a key of the API.
    package var needsKey: Bool {
        switch self {
        case .receiveNotification, .alive, .ready, .metrics, .openAPI: false
        case .submitReceipt, .spend, .balance, .grant, .reverseSpend, .adjust, .hold, .captureHold,
            .releaseHold, .batch, .linkAppAccountToken, .recordConsent, .consent, .accountEvents,
            .accountLots, .event, .transaction, .consumption, .redeliver, .order, .supportPurchases,
            .refund, .notifications, .notification, .retryNotification:
            true
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
    /// With what each path of it ends; nil if that's a variable.
    private let lastByte: UInt8?

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
        lastByte = literals.last?.last
    }

    /// The variable segments of `path`, or nil if it isn't of this pattern.
    func variables(of path: [UInt8]) -> [String]? {
        // Tells most patterns apart at once.
        if let lastByte, path.last != lastByte { return nil }
        guard let first = literals.first, path.starts(with: first) else { return nil }
        var rest = path[first.count...]
        var segments: [ArraySlice<UInt8>] = []
        for literal in literals.dropFirst() {
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            guard rest[end...].starts(with: literal) else { return nil }
            segments.append(rest[..<end])
            rest = rest[(end + literal.count)...]
        }
        return rest.isEmpty ? segments.map { String(decoding: $0, as: UTF8.self) } : nil
    }
}
