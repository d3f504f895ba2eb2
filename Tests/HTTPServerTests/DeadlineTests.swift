import EventLoop
import HTTPServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct `Deadlines of a connection` {
    /// All long except for the one under test.
    private static func limits(_ path: WritableKeyPath<HTTPLimits, Double>) -> HTTPLimits {
        var limits = HTTPLimits()
        limits.deadlineScanSeconds = 0.01
        limits[keyPath: path] = 0.1
        return limits
    }

    /// Sends a byte at a time until the server has enough of it.
    private static func trickle(_ client: HTTPConnection, _ text: String) {
        for byte in text.utf8 {
            guard (try? client.send([byte])) != nil else { return }
            if client.isReadable(withinMilliseconds: 20) { return }
        }
    }

    @Test func `a silent connection is closed without an answer`() throws {
        try withServer(Self.limits(\.idleSeconds)) { server throws in
            let client = try server.client()
            #expect(client.isEnded())
        }
    }

    @Test func `a connection is closed when it has been idle after an answer`() throws {
        try withServer(Self.limits(\.idleSeconds)) { server throws in
            let client = try server.client()
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = try client.answer()
            #expect(answer.status == 200)
            #expect(client.isEnded())
        }
    }

    @Test func `a request line sent a byte at a time is cut off`() throws {
        try withServer(Self.limits(\.idleSeconds)) { server throws in
            let client = try server.client()
            Self.trickle(client, String(repeating: "G", count: 200))
            #expect(client.isEnded())
        }
    }

    @Test func `a head sent a byte at a time is cut off with 408`() throws {
        try withServer(Self.limits(\.headSeconds)) { server throws in
            let client = try server.client()
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n")
            Self.trickle(client, String(repeating: "X", count: 200))
            let answer = try client.answer()
            #expect(answer.status == 408)
            #expect(answer.text == "request_timeout")
            #expect(answer["Connection"] == "close")
            #expect(client.isEnded())
        }
    }

    @Test(arguments: ["Content-Length: 1000", "Transfer-Encoding: chunked"])
    func `a body sent a byte at a time is cut off with 408`(field: String) throws {
        try withServer(Self.limits(\.bodySeconds)) { server throws in
            let client = try server.client()
            try client.send("POST / HTTP/1.1\r\nHost: a\r\n\(field)\r\n\r\n3E8\r\n")
            Self.trickle(client, String(repeating: "b", count: 200))
            let answer = try client.answer()
            #expect(answer.status == 408)
            #expect(client.isEnded())
        }
    }

    @Test func `a handler that takes too long is answered for, and its response dropped`() throws {
        let door = Door()
        try withServer(
            Self.limits(\.handlerSeconds),
            handler: { request, loop in
                if request.path == "/slow" { await door.pass() }
                return await echo(request, loop)
            }
        ) { server throws in
            let client = try server.client()
            try client.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = try client.answer()
            #expect(answer.status == 503)
            #expect(answer.text == "handler_timeout")
            #expect(answer["Connection"] == "close")
            #expect(client.isEnded())

            door.open()
            let next = try server.client()
            try next.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            let other = try next.answer()
            #expect(other.text == "GET / ")
        }
    }

    @Test func `a client that doesn't read its answer is cut off`() throws {
        try withServer(
            Self.limits(\.writeSeconds),
            handler: { _, _ in
                HTTPResponse(status: 200, body: Array(repeating: 0, count: 32 << 20))
            }
        ) { server throws in
            let client = try HTTPConnection(port: server.port, receiveBufferBytes: 4096)
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(server.waitForConnections(0))
            // What was on its way is readable; the rest never comes.
            let bytes = client.rest()?.utf8.count ?? 0
            #expect(bytes < 32 << 20)
        }
    }
}
