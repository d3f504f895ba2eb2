/// Why the server answered by itself, without asking the handler or without waiting for it.
///
/// Each ends its connection. The raw value is a stable code.
package enum HTTPRefusal: String, Sendable, CaseIterable {
    case badRequestHead = "bad_request_head"
    case requestTimeout = "request_timeout"
    case bodyTooLarge = "body_too_large"
    case targetTooLong = "target_too_long"
    case expectationFailed = "expectation_failed"
    case headTooLarge = "head_too_large"
    case transferCodingUnsupported = "transfer_coding_unsupported"
    case overloaded = "overloaded"
    case handlerTimeout = "handler_timeout"
    case shuttingDown = "shutting_down"
    case versionUnsupported = "version_unsupported"

    package var code: String { rawValue }

    /// The status its answer should have (RFC 9110, section 15).
    package var status: Int {
        switch self {
        case .badRequestHead: 400
        case .requestTimeout: 408
        case .bodyTooLarge: 413
        case .targetTooLong: 414
        case .expectationFailed: 417
        case .headTooLarge: 431
        case .transferCodingUnsupported: 501
        case .overloaded, .handlerTimeout, .shuttingDown: 503
        case .versionUnsupported: 505
        }
    }

    /// One sentence for the caller, without data.
    package var sentence: String {
        switch self {
        case .badRequestHead: "The head of the request is malformed."
        case .requestTimeout: "The request took too long to arrive."
        case .bodyTooLarge: "The body of the request is larger than this server accepts."
        case .targetTooLong: "The request target is longer than this server accepts."
        case .expectationFailed: "The only expectation this server meets is 100-continue."
        case .headTooLarge: "The head of the request is larger than this server accepts."
        case .transferCodingUnsupported: "The only transfer coding this server knows is chunked."
        case .overloaded: "The server holds as many request bodies as it can."
        case .handlerTimeout: "The request took too long to be handled."
        case .shuttingDown: "The server is shutting down."
        case .versionUnsupported: "This server speaks HTTP/1.1 and HTTP/1.0."
        }
    }

    /// The code and the sentence as plain text.
    package var plainResponse: HTTPResponse {
        HTTPResponse(
            status: status, headers: [("Content-Type", "text/plain; charset=utf-8")],
            body: Array("\(code): \(sentence)\n".utf8))
    }
}
