/// Where a server listens, what it bounds, and how it words its refusals.
package struct HTTPServerConfiguration: Sendable {
    /// A numeric IPv4 or IPv6 address.
    package var address: String

    /// 0 takes any free port; `HTTPServer.port` says which.
    package var port: UInt16

    package var limits: HTTPLimits

    /// Words the answers that the server gives by itself, in the application's format.
    package var refusal: @Sendable (HTTPRefusal) -> HTTPResponse

    package init(
        address: String = "127.0.0.1", port: UInt16, limits: HTTPLimits = HTTPLimits(),
        refusal: @escaping @Sendable (HTTPRefusal) -> HTTPResponse = { $0.plainResponse }
    ) {
        self.address = address
        self.port = port
        self.limits = limits
        self.refusal = refusal
    }
}

/// Every limit of a server.
package struct HTTPLimits: Sendable {
    /// Request line and header fields together; more is 431. The library clears so much memory for
    /// each request; at 32 KiB that's a fifth of a small request's cost.
    package var headBytesMax = 8 * 1024

    /// More header fields are 431.
    package var headersMax = 100

    /// A longer request target is 414.
    package var targetBytesMax = 4 * 1024

    /// A larger body is 413, before it's read if its length was announced.
    package var bodyBytesMax = 1024 * 1024

    /// What it is for requests to these paths instead.
    package var bodyBytesMaxByPath: [String: Int] = [:]

    /// All bodies held at one time; a request that exceeds it is 503.
    package var bodyBytesTotalMax = 256 * 1024 * 1024

    /// Further connections wait in the listening socket's backlog.
    package var connectionsMax = 4096

    package var backlogMax = 1024

    /// From the end of the request line to the end of the head; then 408.
    package var headSeconds = 10.0

    /// From the end of the head to the end of the body; then 408.
    package var bodySeconds = 30.0

    /// From the start of a connection, or the end of an answer, to the end of the next request
    /// line; then the connection is closed without an answer.
    package var idleSeconds = 75.0

    /// From the whole request to the handler's response; then 503. The handler runs on, but its
    /// response is dropped.
    package var handlerSeconds = 30.0

    /// From the start of an answer until the client has taken all of it, or, if it's written while
    /// it's sent, the next part of it; then the connection is reset.
    package var writeSeconds = 30.0

    /// How late a deadline may be noticed.
    package var deadlineScanSeconds = 0.25

    /// After a refusal the rest of the request is read and thrown away for so long, for so many
    /// bytes and on so many connections, so that the client sees the answer instead of a reset.
    package var lingerSeconds = 2.0
    package var lingerBytesMax = 4 * 1024 * 1024
    package var lingerConnectionsMax = 256

    /// How long the last 503s may take to leave when a drain has run out of time.
    package var drainFlushSeconds = 0.5

    package init() {}

    /// The limits of each of `count` servers that share a port, where what they hold adds up.
    /// Connections are counted by the one that listens.
    package func divided(among count: Int) -> HTTPLimits {
        var share = self
        share.bodyBytesTotalMax /= count
        share.lingerConnectionsMax /= count
        return share
    }

    static func milliseconds(_ seconds: Double) -> Int64 {
        let dayMilliseconds = 86_400_000.0
        return Int64(min(max(0, seconds * 1000), dayMilliseconds))
    }
}

/// Why a server couldn't be started.
package enum HTTPServerError: Error, Equatable {
    /// The address isn't a numeric IPv4 or IPv6 address.
    case invalidAddress

    /// Another process listens on the port.
    case addressInUse

    /// A system call failed with this `errno`.
    case system(call: String, errno: Int32)

    /// libmicrohttpd refused the socket or its options.
    case libraryRefused

    /// A server is started once.
    case alreadyStarted
}
