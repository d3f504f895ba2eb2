import HTTPServer
import TestSupport
import Testing

/// Heads that two readers could understand differently, or that this server doesn't serve.
@Suite(.timeLimit(.minutes(15))) struct `Refusing a request head` {
    struct Head: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let bytes: String
        let status: Int
        let code: String

        init(_ description: String, _ bytes: String, _ status: Int, _ code: String) {
            (testDescription, self.bytes, self.status, self.code) =
                (description, bytes, status, code)
        }
    }

    static let refused = [
        Head("no Host", "GET / HTTP/1.1\r\n\r\n", 400, "bad_request_head"),
        Head("two Host", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400, "bad_request_head"),
        Head("a list of hosts", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", 400, "bad_request_head"),
        Head("a host with a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400, "bad_request_head"),
        Head(
            "two differing Content-Length",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
            400, "bad_request_head"),
        Head(
            "two equal Content-Length",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
            400, "bad_request_head"),
        Head(
            "Content-Length before Transfer-Encoding",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "0\r\n\r\n",
            400, "bad_request_head"),
        Head(
            "Transfer-Encoding before Content-Length",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n"
                + "0\r\n\r\n",
            400, "bad_request_head"),
        Head(
            "an unknown transfer coding",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
            501, "transfer_coding_unsupported"),
        Head(
            "a list of transfer codings",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            501, "transfer_coding_unsupported"),
        Head(
            "two Transfer-Encoding",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            400, "bad_request_head"),
        Head(
            "Transfer-Encoding in HTTP/1.0",
            "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            400, "bad_request_head"),
        Head(
            "a space before the colon", "GET / HTTP/1.1\r\nHost: a\r\nX-Name : v\r\n\r\n",
            400, "bad_request_head"),
        Head(
            "a space before the colon of Content-Length",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length : 3\r\n\r\nabc", 400, "bad_request_head"),
        Head(
            "a bracket in a name", "GET / HTTP/1.1\r\nHost: a\r\nX(y): v\r\n\r\n",
            400, "bad_request_head"),
        Head(
            "a letter beyond ASCII in a name", "GET / HTTP/1.1\r\nHost: a\r\nÄ: v\r\n\r\n",
            400, "bad_request_head"),
        Head(
            "a control byte in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: a\u{01}b\r\n\r\n",
            400, "bad_request_head"),
        Head(
            "a space in the target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400, "bad_request_head"
        ),
        Head(
            "a control byte in the target", "GET /a\u{01}b HTTP/1.1\r\nHost: a\r\n\r\n",
            400, "bad_request_head"),
        Head(
            "a letter beyond ASCII in the target", "GET /ä HTTP/1.1\r\nHost: a\r\n\r\n",
            400, "bad_request_head"),
        Head("a fragment", "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", 400, "bad_request_head"),
        Head(
            "a target without a slash", "GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400, "bad_request_head"
        ),
        Head("an authority", "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", 400, "bad_request_head"),
        Head("an asterisk in GET", "GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400, "bad_request_head"),
        Head(
            "a method with a bracket", "G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "bad_request_head"),
        Head(
            "an unknown expectation", "POST / HTTP/1.1\r\nHost: a\r\nExpect: coins\r\n\r\n",
            417, "expectation_failed"),
        Head("HTTP/1.2", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505, "version_unsupported"),
    ]

    @Test(arguments: refused)
    func `what is ambiguous or unknown gets the application's answer and a close`(
        head: Head
    ) throws {
        try withServer { server throws in
            let client = try server.client()
            try client.send(head.bytes)
            let answer = try client.answer()
            #expect(answer.status == head.status)
            #expect(answer.text == head.code)
            #expect(answer["Connection"] == "close")
            #expect(client.isEnded())
        }
    }

    /// Here the library answers by itself, in its own words.
    static let refusedByTheLibrary = [
        Head(
            "a signed Content-Length",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\nabc", 400, ""),
        Head(
            "a Content-Length with a letter",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3x\r\n\r\nabc", 400, ""),
        Head(
            "a Content-Length beyond 64 bits",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 413, ""),
        Head("HTTP/2.0", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505, ""),
        Head(
            "a head of 200 kB",
            "GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "x", count: 200_000)
                + "\r\n\r\n", 431, ""),
    ]

    @Test(arguments: refusedByTheLibrary)
    func `what the library refuses is refused and closed`(head: Head) throws {
        try withServer { server throws in
            let client = try server.client()
            // The server may end the connection before it has read all of it.
            try? client.send(head.bytes)
            let answer = try client.answer()
            #expect(answer.status == head.status)
            #expect(answer["Connection"]?.lowercased() == "close")
        }
    }

    @Test func `a head may be as large as the limit and no larger`() throws {
        var limits = HTTPLimits()
        limits.headBytesMax = 1024
        try withServer(limits) { server throws in
            func status(headBytes: Int) throws -> Int {
                let start = "GET / HTTP/1.1\r\nHost: a\r\nX: "
                let filling = String(repeating: "x", count: headBytes - start.utf8.count - 4)
                let client = try server.client()
                try client.send(start + filling + "\r\n\r\n")
                let answer = try client.answer()
                if answer.status != 200 { #expect(answer.text == "head_too_large") }
                return answer.status
            }
            #expect(try status(headBytes: 1024) == 200)
            #expect(try status(headBytes: 1025) == 431)
            #expect(try status(headBytes: 1500) == 431)
        }
    }

    @Test func `fields and target have limits of their own`() throws {
        var limits = HTTPLimits()
        limits.headersMax = 3
        limits.targetBytesMax = 10
        try withServer(limits) { server throws in
            func answer(_ target: String, fields: Int) throws -> String {
                let client = try server.client()
                let more = (1..<fields).map { "X-\($0): v\r\n" }.joined()
                try client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\(more)\r\n")
                let answer = try client.answer()
                return "\(answer.status) \(answer.text)"
            }
            #expect(try answer("/234567890", fields: 3) == "200 GET /234567890 ")
            #expect(try answer("/2345678901", fields: 3) == "414 target_too_long")
            #expect(try answer("/", fields: 4) == "431 head_too_large")
        }
    }
}
