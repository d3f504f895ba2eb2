import HTTPServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct `Reading bodies` {
    private static var limits: HTTPLimits {
        var limits = HTTPLimits()
        limits.bodyBytesMax = 1000
        return limits
    }

    private static func post(_ length: Int, _ more: String = "") -> String {
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\(more)\r\n"
    }

    @Test func `chunks are put together`() throws {
        try withServer { server throws in
            let client = try server.client()
            try client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n")
            try client.send("3\r\nabc\r\n")
            try client.send("A;name=value\r\n0123456789\r\n0\r\nX-Trailer: x\r\n\r\n")
            let answer = try client.answer()
            #expect(answer.text == "POST / abc0123456789")
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            let next = try client.answer()
            #expect(next.text == "GET / ")
        }
    }

    @Test func `a body may be as long as the limit`() throws {
        try withServer(Self.limits) { server throws in
            let client = try server.client()
            let body = String(repeating: "b", count: 1000)
            try client.send(Self.post(1000) + body)
            let announced = try client.answer()
            #expect(announced.text == "POST / " + body)
            try client.send(
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + "3E8\r\n\(body)\r\n0\r\n\r\n")
            let chunked = try client.answer()
            #expect(chunked.text == "POST / " + body)
        }
    }

    @Test(arguments: ["", "Expect: 100-continue\r\n"])
    func `an announced body over the limit is refused before it's sent`(more: String) throws {
        try withServer(Self.limits) { server throws in
            let client = try server.client()
            try client.send(Self.post(1001, more))
            // Also not preceded by 100.
            let answer = try client.answer()
            #expect(answer.status == 413)
            #expect(answer.text == "body_too_large")
            #expect(answer["Connection"] == "close")
            #expect(client.isEnded())
        }
    }

    @Test func `a chunked body over the limit is refused as soon as it is`() throws {
        try withServer(Self.limits) { server throws in
            let client = try server.client()
            try client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            try client.send("3E8\r\n" + String(repeating: "b", count: 1000) + "\r\n1\r\nb\r\n")
            let answer = try client.answer()
            #expect(answer.status == 413)
            #expect(answer.text == "body_too_large")
            #expect(answer["Connection"] == "close")
            #expect(client.isEnded())
        }
    }

    @Test(arguments: ["Content-Length: 3000000", "Transfer-Encoding: chunked"])
    func `a client that sends all of it first still reads the refusal`(field: String) throws {
        try withServer(Self.limits) { server throws in
            let client = try server.client()
            try client.send("POST / HTTP/1.1\r\nHost: a\r\n\(field)\r\n\r\n")
            try client.send("2DC6C0\r\n" + String(repeating: "b", count: 3_000_000 - 8))
            let answer = try client.answer()
            #expect(answer.status == 413)
            #expect(client.isEnded())
        }
    }

    @Test func `what follows a refusal is read up to a limit only`() throws {
        var limits = Self.limits
        limits.lingerBytesMax = 100_000
        try withServer(limits) { server throws in
            let client = try server.client()
            try client.send(Self.post(1_000_000_000))
            #expect(throws: HTTPConnection.Failure.self) {
                for _ in 0..<1000 {
                    try client.send(Array(repeating: UInt8(ascii: "b"), count: 1_000_000))
                }
            }
        }
    }

    @Test func `an expectation of 100 is met`() throws {
        try withServer { server throws in
            let client = try server.client()
            try client.send(Self.post(3, "Expect: 100-continue\r\n"))
            let interim = try client.answer()
            #expect(interim.status == 100)
            try client.send("abc")
            let answer = try client.answer()
            #expect(answer.status == 200)
            #expect(answer.text == "POST / abc")
        }
    }

    @Test func `all bodies together have a limit, and give their room back`() throws {
        var limits = Self.limits
        limits.bodyBytesTotalMax = 1500
        let door = Door()
        try withServer(
            limits,
            handler: { request, loop in
                if request.path == "/wait" { await door.pass() }
                return await echo(request, loop)
            }
        ) { server throws in
            let first = try server.client()
            let body = String(repeating: "b", count: 1000)
            try first.send("POST /wait HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n" + body)
            #expect(door.arrived.wait())

            let second = try server.client()
            try second.send(Self.post(1000) + body)
            let refusal = try second.answer()
            #expect(refusal.status == 503)
            #expect(refusal.text == "overloaded")

            door.open()
            let answer = try first.answer()
            #expect(answer.status == 200)
            let third = try server.client()
            try third.send(Self.post(1000) + body)
            let next = try third.answer()
            #expect(next.status == 200)
        }
    }

    @Test(arguments: ["x\r\nabc\r\n0\r\n\r\n", "3\r\nabcd\r\n0\r\n\r\n", "-1\r\na\r\n0\r\n\r\n"])
    func `chunks that are none never reach the handler`(chunks: String) throws {
        try withServer { server throws in
            let client = try server.client()
            try client.send(
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)
            client.finishSending()
            let rest = client.rest() ?? ""
            #expect(!rest.hasPrefix("HTTP/1.1 200"))
        }
    }
}
