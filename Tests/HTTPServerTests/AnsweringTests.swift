import Base
import EventLoop
import HTTPServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct `Answering requests` {
    @Test func `a connection carries one request after the other`() throws {
        try withServer { server throws in
            let client = try server.client()
            for number in 1...3 {
                try client.send(
                    "POST /\(number) HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi")
                let answer = try client.answer()
                #expect(answer.status == 200)
                #expect(answer.text == "POST /\(number) hi")
                #expect(answer["Connection"] == nil)
                #expect(answer["Date"] != nil)
            }
        }
    }

    @Test(arguments: [
        ("GET /a%20b/c?d=%2F&e HTTP/1.1", "GET /a%20b/c query=d=%2F&e "),
        ("GET /a?b?c HTTP/1.1", "GET /a query=b?c "),
        ("GET /a? HTTP/1.1", "GET /a query= "),
        ("GET //a/../b HTTP/1.1", "GET //a/../b "),
        ("GET http://b.example/c?d HTTP/1.1", "GET /c query=d "),
        ("GET HTTP://b.example HTTP/1.1", "GET / "),
        ("GET http://b.example?c HTTP/1.1", "GET / query=c "),
        ("OPTIONS * HTTP/1.1", "OPTIONS * "),
        ("BREW / HTTP/1.1", "BREW / "),
        ("GET / HTTP/1.0", "GET / "),
    ])
    func `method and target arrive as they were sent`(line: String, body: String) throws {
        try withServer { server throws in
            let client = try server.client()
            try client.send("\(line)\r\nHost: a\r\n\r\n")
            let answer = try client.answer()
            #expect(answer.status == 200)
            #expect(answer.text == body)
        }
    }

    @Test func `fields keep their order and their repetitions, and have no case`() throws {
        let handler: @Sendable (HTTPRequest, EventLoop) async -> HTTPResponse = { request, _ in
            let all = request.headers.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
            let some = request.headers.values(of: "X-A").joined(separator: "+")
            let first = request.headers["x-a"] ?? "none"
            return HTTPResponse(
                status: 201, headers: [("X-One", "1"), ("X-Two", "2"), ("X-One", "3")],
                body: Array("\(all) \(some) \(first)".utf8))
        }
        try withServer(handler: handler) { server throws in
            let client = try server.client()
            try client.send("GET / HTTP/1.1\r\nHost: a\r\nx-a:1\r\nB:  2 \r\nX-A: 3\r\nC:\r\n\r\n")
            let answer = try client.answer()
            #expect(answer.status == 201)
            #expect(answer.text == "Host=a,x-a=1,B=2,X-A=3,C= 1+3 1")
            let sent = answer.headers.filter { $0.name.hasPrefix("X-") }.map { $0.name + $0.value }
            #expect(sent == ["X-One1", "X-Two2", "X-One3"])
        }
    }

    @Test func `HEAD is answered with the length of a body that isn't sent`() throws {
        try withServer { server throws in
            let client = try server.client()
            try client.send(
                "HEAD /abc HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = try client.answer(toHEAD: true)
            // "HEAD /abc "
            #expect(answer["Content-Length"] == "10")
            let next = try client.answer()
            #expect(next.text == "GET / ")
        }
    }

    @Test func `fifty pipelined requests with suspending handlers are answered in order`() throws {
        let handler: @Sendable (HTTPRequest, EventLoop) async -> HTTPResponse = { request, loop in
            // The early ones take longest.
            let number = Int(request.path.dropFirst()) ?? 0
            await loop.sleep(milliseconds: Int64(number % 3))
            return await echo(request, loop)
        }
        try withServer(handler: handler) { server throws in
            let client = try server.client()
            try client.send(
                (0..<50).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
            for number in 0..<50 {
                let answer = try client.answer()
                #expect(answer.text == "GET /\(number) ")
            }
        }
    }

    @Test func `a handler may come back from another thread`() throws {
        let handler: @Sendable (HTTPRequest, EventLoop) async -> HTTPResponse = { _, loop in
            await withCheckedContinuation { continuation in
                Base.Thread.start { continuation.resume() }
            }
            return HTTPResponse(status: loop.isInLoop ? 200 : 500)
        }
        try withServer(handler: handler) { server throws in
            let client = try server.client()
            for _ in 0..<20 {
                try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                let answer = try client.answer()
                #expect(answer.status == 200)
            }
        }
    }

    @Test func `a status that doesn't exist is sent as 500`() throws {
        let handler: @Sendable (HTTPRequest, EventLoop) async -> HTTPResponse = { request, _ in
            HTTPResponse(status: Int(request.path.dropFirst()) ?? 0)
        }
        try withServer(handler: handler) { server throws in
            let client = try server.client()
            for (asked, status) in [(204, 204), (100, 500), (-1, 500), (600, 500), (Int.max, 500)] {
                try client.send("GET /\(asked) HTTP/1.1\r\nHost: a\r\n\r\n")
                let answer = try client.answer()
                #expect(answer.status == status)
            }
        }
    }

    @Test func `a header that would break the answer is left out`() throws {
        let handler: @Sendable (HTTPRequest, EventLoop) async -> HTTPResponse = { _, _ in
            HTTPResponse(status: 200, headers: [("X-A", "a\r\nX-B: b"), ("X-C", "c")])
        }
        try withServer(handler: handler) { server throws in
            let client = try server.client()
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = try client.answer()
            #expect(answer["X-B"] == nil)
            #expect(answer["X-C"] == "c")
        }
    }

    @Test func `a client that asks for the end of the connection gets it`() throws {
        try withServer { server throws in
            let client = try server.client()
            try client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            let answer = try client.answer()
            #expect(answer["Connection"]?.lowercased() == "close")
            #expect(client.isEnded())
        }
    }

    @Test func `an answer of a megabyte arrives whole`() throws {
        let handler: @Sendable (HTTPRequest, EventLoop) async -> HTTPResponse = { _, loop in
            await loop.sleep(milliseconds: 1)
            return HTTPResponse(
                status: 200, body: Array(repeating: UInt8(ascii: "x"), count: 1 << 20))
        }
        try withServer(handler: handler) { server throws in
            let client = try server.client()
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = try client.answer()
            #expect(answer.text.utf8.count == 1_048_576)
            #expect(answer.text.utf8.allSatisfy { $0 == UInt8(ascii: "x") })
        }
    }
}
