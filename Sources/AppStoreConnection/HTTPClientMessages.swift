/// One request to another server.
package struct HTTPClientRequest: Sendable {
    package var method: String
    /// `https`, or `http` for a stand-in on this machine.
    package var url: String
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// For everything together, from the connection to the last byte.
    package var timeoutMilliseconds: Int64

    package init(
        method: String = "GET", url: String, headers: [(name: String, value: String)] = [],
        body: [UInt8] = [], timeoutMilliseconds: Int64 = 10_000
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeoutMilliseconds = timeoutMilliseconds
    }
}

/// A complete answer. A redirect is an answer like any other: none is followed.
package struct HTTPClientResponse: Hashable, Sendable {
    package let status: Int
    package let body: [UInt8]
    /// When to ask again, in the server's own words. No other header is of use here.
    package let retryAfter: String?

    package init(status: Int, body: [UInt8], retryAfter: String? = nil) {
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
    }
}

/// Why there's no answer.
package enum HTTPClientError: Error, Hashable {
    /// The name wasn't found, or nobody listens there.
    case notConnected
    /// The other side isn't who it should be, or TLS failed otherwise.
    case notTrusted
    case timedOut
    /// The connection ended before the answer did.
    case interrupted
    case bodyTooLarge
    /// As many requests as allowed are under way.
    case tooManyRequests
    /// The URL or a header can't be sent.
    case invalidRequest
    /// The client was stopped.
    case stopped
}

/// Every limit of a client.
package struct HTTPClientLimits: Sendable {
    package var requestsMax = 256
    /// Further requests wait for a connection, inside their timeout.
    package var connectionsMax = 16
    package var bodyBytesMax = 8 << 20
    package var connectMilliseconds: Int64 = 5000

    package init() {}
}
