/// What libmicrohttpd lets through in the head of a request, and this server doesn't
/// (RFC 9112, sections 2 to 6).
///
/// A head that two readers understand differently is how requests are smuggled past a proxy, so
/// that whatever is ambiguous is refused.
struct HeadCheck {
    let method: String
    let target: String
    let version: String
    let headers: HTTPHeaders
    let headBytes: Int
    let limits: HTTPLimits

    /// What a head that passed says about its target and its body.
    struct Accepted {
        var path: String
        var query: String?

        /// Nil if the body is chunked.
        var contentLength: Int?

        /// How large the body may be at this path.
        var bodyBytesMax: Int
    }

    func accept() throws(Refused) -> Accepted {
        try checkRequestLine()
        try checkFields()
        try checkHost()
        let (path, query) = try splitTarget()
        let bodyBytesMax = limits.bodyBytesMaxByPath[path] ?? limits.bodyBytesMax
        return Accepted(
            path: path, query: query, contentLength: try bodyLength(bodyBytesMax),
            bodyBytesMax: bodyBytesMax)
    }

    /// A refusal that is thrown inside this module.
    struct Refused: Error {
        let refusal: HTTPRefusal
        init(_ refusal: HTTPRefusal) { self.refusal = refusal }
    }

    private var isHTTP10: Bool { version == "HTTP/1.0" }

    private func checkRequestLine() throws(Refused) {
        guard version == "HTTP/1.1" || isHTTP10 else { throw Refused(.versionUnsupported) }
        guard HeadCheck.isToken(method) else { throw Refused(.badRequestHead) }
        guard target.utf8.count <= limits.targetBytesMax else { throw Refused(.targetTooLong) }
        let isPlain = HeadCheck.isAll(target) { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }
        guard isPlain, !target.isEmpty else { throw Refused(.badRequestHead) }
    }

    private func checkFields() throws(Refused) {
        guard headBytes <= limits.headBytesMax, headers.count <= limits.headersMax else {
            throw Refused(.headTooLarge)
        }
        for (name, value) in headers {
            // A space before the colon shows up as part of the name.
            guard HeadCheck.isToken(name) else { throw Refused(.badRequestHead) }
            let isClean = HeadCheck.isAll(value) { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
            guard isClean else { throw Refused(.badRequestHead) }
        }
        for expectation in headers.values(of: "expect")
        where !HTTPHeaders.isSame(expectation, "100-continue") {
            throw Refused(.expectationFailed)
        }
    }

    private func checkHost() throws(Refused) {
        guard let host = headers["host"] else {
            if isHTTP10 { return }
            throw Refused(.badRequestHead)
        }
        guard headers.count(of: "host") == 1, HeadCheck.isAll(host, HeadCheck.isHostByte) else {
            throw Refused(.badRequestHead)
        }
    }

    private func bodyLength(_ bytesMax: Int) throws(Refused) -> Int? {
        let length = headers["content-length"]
        if let coding = headers["transfer-encoding"] {
            guard length == nil, headers.count(of: "transfer-encoding") == 1, !isHTTP10 else {
                throw Refused(.badRequestHead)
            }
            guard HTTPHeaders.isSame(coding, "chunked") else {
                throw Refused(.transferCodingUnsupported)
            }
            return nil
        }
        guard let text = length else { return 0 }
        // Even two equal ones: some reader takes the first and some the last.
        guard headers.count(of: "content-length") == 1, !text.isEmpty,
            HeadCheck.isAll(text, HeadCheck.isDigit)
        else {
            throw Refused(.badRequestHead)
        }
        // More digits than an Int holds are a number, only far too large.
        guard let length = Int(text), length <= bytesMax else {
            throw Refused(.bodyTooLarge)
        }
        return length
    }

    /// Path and query of a target in origin form, absolute form or `*`.
    private func splitTarget() throws(Refused) -> (path: String, query: String?) {
        if target == "*", method == "OPTIONS" { return ("*", nil) }
        var rest = target.utf8[...]
        if rest.first != UInt8(ascii: "/") {
            rest = try HeadCheck.afterAuthority(rest)
        }
        guard let mark = rest.firstIndex(of: UInt8(ascii: "?")) else {
            return (rest.isEmpty ? "/" : String(rest) ?? "/", nil)
        }
        let path = String(rest[..<mark]) ?? ""
        return (path.isEmpty ? "/" : path, String(rest[rest.index(after: mark)...]))
    }

    /// Servers must take `http://host/path` as well (RFC 9112, section 3.2.2).
    private static func afterAuthority(
        _ target: Substring.UTF8View
    ) throws(Refused) -> Substring.UTF8View {
        for scheme in ["http://", "https://"]
        where isSame(target.prefix(scheme.utf8.count), scheme) {
            let authority = target.dropFirst(scheme.utf8.count)
            let rest = authority.drop { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
            guard rest.count < authority.count else { break }
            return rest
        }
        throw Refused(.badRequestHead)
    }

    private static func isSame(_ bytes: Substring.UTF8View, _ text: String) -> Bool {
        HTTPHeaders.isSame(String(bytes) ?? "", text)
    }

    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty && isAll(text, isTokenByte)
    }

    /// Whether all bytes of a text are allowed. Over memory, since every byte of a head comes by.
    private static func isAll(_ text: String, _ isAllowed: (UInt8) -> Bool) -> Bool {
        let bytes = text.utf8.span
        for index in bytes.indices where !isAllowed(bytes[index]) { return false }
        return true
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        let lower = byte | 0x20
        return lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z")
    }

    /// `tchar` of RFC 9110, section 5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        if isLetter(byte) || isDigit(byte) { return true }
        return switch byte {
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"),
            UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^"), UInt8(ascii: "_"),
            UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// A name, an IPv4 address or an IPv6 address in brackets, and a port.
    private static func isHostByte(_ byte: UInt8) -> Bool {
        if isLetter(byte) || isDigit(byte) { return true }
        return switch byte {
        case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "["),
            UInt8(ascii: "]"), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "%"):
            true
        default: false
        }
    }
}
