/// A request whose head has passed every check and whose body is complete.
package struct HTTPRequest: Sendable {
    package let method: String

    /// The request target as it was sent: printable ASCII without spaces.
    package let target: String

    /// The target's path, percent-encoded as sent; `*` for `OPTIONS *`.
    package let path: String

    /// What follows the first `?` of the target, percent-encoded as sent; nil without a `?`.
    package let query: String?

    package let headers: HTTPHeaders
    package let body: [UInt8]

    package init(
        method: String, target: String, path: String, query: String? = nil,
        headers: HTTPHeaders = [:], body: [UInt8] = []
    ) {
        self.method = method
        self.target = target
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
    }
}

/// Writes a body on the server's loop, and has written all of it when it returns.
package typealias HTTPBodyProducer = @Sendable (_ write: @escaping HTTPBodyWriter) async -> Void

/// Adds to a body, waiting while the client is slow to read; false once the client has left, or the
/// server is at its end, and nothing more is read. One call at a time.
package typealias HTTPBodyWriter = @Sendable ([UInt8]) async -> Bool

/// What a handler answers.
///
/// The server adds `Date`, `Content-Length` and, where it ends the connection, `Connection: close`.
package struct HTTPResponse: Sendable {
    /// From 200 to 599; anything else is sent as 500.
    package var status: Int

    package var headers: [(name: String, value: String)]

    /// Not sent in answer to HEAD, though its length is.
    package var body: [UInt8]

    /// Writes the body part by part after the head is sent, where it isn't known at once; `body` is
    /// empty then.
    package var producer: HTTPBodyProducer?

    /// Whether the connection is to be reset instead of answered.
    package private(set) var isReset = false

    /// No answer at all, for servers that misbehave on purpose.
    package static let reset: HTTPResponse = {
        var response = HTTPResponse(status: 500)
        response.isReset = true
        return response
    }()

    package init(
        status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []
    ) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A body that is written while it's sent.
    package init(
        status: Int, headers: [(name: String, value: String)],
        producer: @escaping HTTPBodyProducer
    ) {
        self.init(status: status, headers: headers)
        self.producer = producer
    }
}
