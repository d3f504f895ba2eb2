import Base

typealias HTTPClientResult = Result<HTTPClientResponse, HTTPClientError>

/// A request and the caller that waits for its answer.
struct Submission: Sendable {
    let request: HTTPClientRequest
    let continuation: CheckedContinuation<HTTPClientResult, Never>
}

/// Sends HTTP requests with libcurl, on one thread of its own for all of them.
///
/// Certificates are verified, redirects are not followed, and connections are used again. The
/// thread ends when the client is no longer used, and whatever is under way then fails.
package final class HTTPClient: Sendable {
    private let thread: TransferThread

    /// - Parameter authorityFile: certificates (PEM) to trust instead of the system's.
    package init(limits: HTTPClientLimits = HTTPClientLimits(), authorityFile: String? = nil) {
        thread = TransferThread(limits: limits, authorityFile: authorityFile)
        thread.start()
    }

    deinit { thread.stop() }

    /// The answer to `request`, whatever its status.
    ///
    /// - Throws: `HTTPClientError`, at the latest when the request's timeout has passed.
    package func send(
        _ request: HTTPClientRequest
    ) async throws(HTTPClientError) -> HTTPClientResponse {
        // The end of the client would stop the thread.
        defer { extendLifetime(self) }
        let result = await withCheckedContinuation { continuation in
            thread.submit(Submission(request: request, continuation: continuation))
        }
        return try result.get()
    }

    /// Fails whatever is under way and ends the thread.
    package func stop() { thread.stop() }
}
