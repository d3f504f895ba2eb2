/// One socket of the library's, from its acceptance to its end.
final class Connection {
    enum Phase {
        /// Between requests, or in the first bytes of one.
        case idle

        /// The request line has been read.
        case head

        /// The head has been read and accepted.
        case body

        /// The handler has the request.
        case handling

        /// An answer is on its way.
        case writing

        /// An answer is on its way, and waits for more of its body to be made.
        case producing

        /// Whether the client has to send something next.
        var isReading: Bool {
            switch self {
            case .idle, .head, .body: true
            case .handling, .writing, .producing: false
            }
        }
    }

    let descriptor: Int32
    private(set) var phase = Phase.idle

    /// On the loop's clock, in milliseconds.
    private(set) var deadline: Int64

    /// Set when a drain has ended the connection's reading side.
    var isHungUp = false

    /// The request that is being read, handled or answered.
    var exchange: Exchange?

    init(descriptor: Int32, deadline: Int64) {
        self.descriptor = descriptor
        self.deadline = deadline
    }

    func enter(_ phase: Phase, until deadline: Int64) {
        self.phase = phase
        self.deadline = deadline
    }

    /// A deadline that has been acted on mustn't come up again.
    func forgetDeadline() { deadline = .max }
}

/// One request and its answer.
@safe final class Exchange: @unchecked Sendable {
    // Sendable: the handler's task only carries it back to the loop, where all its state is used.
    enum Stage {
        case head, body, handling

        /// The response is known and closes the connection.
        case refused

        /// The response is known.
        case answered
    }

    let connection: Connection
    let target: String
    var stage = Stage.head
    var method = ""
    var headers = HTTPHeaders()
    var accepted: HeadCheck.Accepted?
    var body: [UInt8] = []

    /// Counted against the server's total until the exchange is over.
    var bodyBytesHeld = 0

    var response: HTTPResponse?

    /// The library's connection while the handler has the request, or the library waits for more of
    /// the response's body.
    var pointer: OpaquePointer?

    /// Whether the library leaves the connection alone until it's resumed.
    var isSuspended = false

    /// The body of the response, if it's written while it's sent.
    var stream: ResponseStream?

    init(connection: Connection, target: String) {
        self.connection = connection
        self.target = target
    }

    /// The finished request; takes the body out of the exchange.
    func takeRequest() -> HTTPRequest? {
        guard let accepted else { return nil }
        var taken: [UInt8] = []
        swap(&taken, &body)
        return HTTPRequest(
            method: method, target: target, path: accepted.path, query: accepted.query,
            headers: headers, body: taken)
    }
}
