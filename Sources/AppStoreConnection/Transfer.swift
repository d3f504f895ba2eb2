import CCurl
import Glibc

/// One request under way in libcurl. Only the thread of its client touches it.
@safe final class Transfer {
    /// Freed with this object, which must not be part of a multi handle any more by then.
    let handle: UnsafeMutableRawPointer
    private let continuation: CheckedContinuation<HTTPClientResult, Never>
    private let bodyBytesMax: Int
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var body: [UInt8] = []
    private var isTooLarge = false

    /// Answers the continuation itself if the request can't be sent.
    init?(
        _ submission: Submission, limits: HTTPClientLimits, authorityFile: String?
    ) {
        let request = submission.request
        guard Transfer.isSendable(request), let handle = unsafe curl_easy_init() else {
            submission.continuation.resume(returning: .failure(.invalidRequest))
            return nil
        }
        unsafe self.handle = handle
        continuation = submission.continuation
        bodyBytesMax = limits.bodyBytesMax
        guard setUp(request, limits, authorityFile) else {
            continuation.resume(returning: .failure(.invalidRequest))
            return nil
        }
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(headers)
    }

    /// Answers the request after libcurl has ended it with `code`.
    func finish(_ code: CURLcode) {
        guard code == CURLE_OK else { return fail(HTTPClientError(code, isTooLarge: isTooLarge)) }
        var status = 0
        unsafe curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
        continuation.resume(
            returning: .success(.init(status: status, body: body, retryAfter: retryAfter)))
    }

    func fail(_ error: HTTPClientError) {
        continuation.resume(returning: .failure(error))
    }

    /// A date is the longest of what may stand there (RFC 9110, section 10.2.3).
    private static let retryAfterBytesMax = 64

    private var retryAfter: String? {
        // The text belongs to the handle.
        guard let text = unsafe curl_get_header(handle, "Retry-After"),
            unsafe strnlen(text, Transfer.retryAfterBytesMax + 1) <= Transfer.retryAfterBytesMax
        else { return nil }
        return unsafe String(validatingCString: text)
    }

    private func setUp(
        _ request: HTTPClientRequest, _ limits: HTTPClientLimits, _ authorityFile: String?
    ) -> Bool {
        var isRight = true
        func set(_ option: CURLoption, _ value: Int) {
            isRight = unsafe curl_set_long(handle, option, value) == CURLE_OK && isRight
        }
        func set(_ option: CURLoption, _ value: String) {
            isRight = unsafe curl_set_text(handle, option, value) == CURLE_OK && isRight
        }
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_URL, request.url)
        set(CURLOPT_FOLLOWLOCATION, 0)
        // Signals belong to the process, not to a library.
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_TIMEOUT_MS, max(1, Int(request.timeoutMilliseconds)))
        set(CURLOPT_CONNECTTIMEOUT_MS, max(1, Int(limits.connectMilliseconds)))
        set(CURLOPT_USERAGENT, "coinledger")
        if let authorityFile { set(CURLOPT_CAINFO, authorityFile) }
        set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
        if request.url.hasPrefix("http:") {
            // Plain HTTP is for a stand-in on this machine, which no proxy can reach.
            set(CURLOPT_PROXY, "")
        } else {
            // Requests to one server share a connection (HTTP/2): all but the first wait for it.
            set(CURLOPT_PIPEWAIT, 1)
        }
        if request.method != "GET" || !request.body.isEmpty {
            set(CURLOPT_POST, 1)
            set(CURLOPT_POSTFIELDSIZE, request.body.count)
            // Copied by libcurl; its size is set before.
            isRight =
                unsafe curl_set_bytes(handle, CURLOPT_COPYPOSTFIELDS, request.body) == CURLE_OK
                && isRight
        }
        if request.method != "GET", request.method != "POST" {
            set(CURLOPT_CUSTOMREQUEST, request.method)
        }
        return isRight && setHeaders(request) && setWriter()
    }

    private func setHeaders(_ request: HTTPClientRequest) -> Bool {
        // Without the first one libcurl would ask before it sends a large body, and wait.
        for line in ["Expect:"] + request.headers.map({ "\($0.name): \($0.value)" }) {
            guard let longer = unsafe curl_slist_append(headers, line) else { return false }
            unsafe headers = unsafe longer
        }
        return unsafe curl_set_list(handle, CURLOPT_HTTPHEADER, headers) == CURLE_OK
    }

    private func setWriter() -> Bool {
        // Not retained: the client keeps this object for as long as libcurl has the handle.
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let code = unsafe curl_set_writer(
            handle,
            { bytes, size, count, context in
                guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
                let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
                let part = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
                return unsafe transfer.append(part)
            }, context)
        return code == CURLE_OK
    }

    /// Takes a part of the body; anything but its size makes libcurl end the transfer.
    private func append(_ part: UnsafeRawBufferPointer) -> Int {
        guard part.count <= bodyBytesMax - body.count else {
            isTooLarge = true
            return 0
        }
        unsafe body.append(contentsOf: part)
        return part.count
    }

    /// Whether it's HTTP, and nothing in the request could end a line or a text early.
    private static func isSendable(_ request: HTTPClientRequest) -> Bool {
        let texts =
            [request.method, request.url] + request.headers.flatMap { [$0.name, $0.value] }
        let isHTTP = ["http://", "https://"].contains { request.url.hasPrefix($0) }
        return isHTTP && request.timeoutMilliseconds > 0 && request.timeoutMilliseconds <= 3_600_000
            && texts.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
    }
}

extension HTTPClientError {
    fileprivate init(_ code: CURLcode, isTooLarge: Bool) {
        switch code {
        case CURLE_OPERATION_TIMEDOUT: self = .timedOut
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT:
            self = .notConnected
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_ENGINE_INITFAILED:
            self = .notTrusted
        case CURLE_URL_MALFORMAT: self = .invalidRequest
        case CURLE_WRITE_ERROR: self = isTooLarge ? .bodyTooLarge : .interrupted
        default: self = .interrupted
        }
    }
}
