package import Base
package import CoinLedgerAPI
package import HTTPServer

/// After how many seconds a caller who was answered 503 should come again.
private let retryAfterSeconds = 2

extension HTTPResponse {
    package init(status: Int, headers: [(name: String, value: String)] = [], json: JSON) {
        self.init(status: status, headers: headers, json: json.bytes)
    }

    /// - Parameter json: the bytes of a JSON text.
    package init(status: Int, headers: [(name: String, value: String)] = [], json: [UInt8]) {
        self.init(
            status: status, headers: [("Content-Type", "application/json")] + headers, body: json)
    }

    package init(_ problem: Problem, headers: [(name: String, value: String)] = []) {
        var headers = headers
        if problem.code.status == 503 { headers.append(("Retry-After", "\(retryAfterSeconds)")) }
        if problem.code.status == 401 { headers.append(("WWW-Authenticate", "Bearer")) }
        self.init(
            status: problem.code.status,
            headers: [("Content-Type", Problem.mediaType)] + headers, body: problem.json.bytes)
    }

    /// What the HTTP server refuses by itself, in the API's words.
    package init(_ refusal: HTTPRefusal) {
        self.init(
            Problem(
                ProblemCode(
                    code: refusal.code, status: refusal.status,
                    isRetryable: refusal.status == 503 || refusal.status == 408),
                refusal.sentence))
    }
}
