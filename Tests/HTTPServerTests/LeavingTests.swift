import EventLoop
import HTTPServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct `Clients that leave` {
    enum Way: CaseIterable, Sendable { case close, reset, halfClose }

    @Test(arguments: Way.allCases)
    func `while their request is handled harm nobody`(way: Way) throws {
        let door = Door()
        try withServer(
            handler: { request, loop in
                if request.path == "/wait" { await door.pass() }
                return await echo(request, loop)
            }
        ) { server throws in
            for _ in 0..<20 {
                let client = try server.client()
                try client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(door.arrived.wait())
                switch way {
                case .close: break
                case .reset: client.resetWhenClosed()
                case .halfClose:
                    client.finishSending()
                    server.keep(client)
                }
            }
            door.open()
            let client = try server.client()
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = try client.answer()
            #expect(answer.text == "GET / ")
        }
    }

    @Test(arguments: [
        "", "G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nA\r\nabc",
    ])
    func `at any point, by a reset, leave no connection behind`(sent: String) throws {
        try withServer { server throws in
            for _ in 0..<20 {
                let client = try server.client()
                client.resetWhenClosed()
                try client.send(sent)
            }
            #expect(server.waitForConnections(0))
        }
    }

    @Test func `in the middle of a body are let go at once`() throws {
        try withServer { server throws in
            let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n"
            // The end of the stream has to come with the last bytes, which takes some luck.
            for count in 0..<500 {
                let client = try server.client()
                try client.send(head + String(repeating: "x", count: count))
                client.finishSending()
                #expect(client.isEnded())
            }
        }
    }

    @Test func `after sending a request and no more are answered`() throws {
        try withServer { server throws in
            let client = try server.client()
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            client.finishSending()
            let answer = try client.answer()
            #expect(answer.text == "GET / ")
        }
    }
}

@Suite(.timeLimit(.minutes(15))) struct `Many connections` {
    @Test func `two hundred idle ones are kept and served`() throws {
        try withServer { server throws in
            let clients = try (0..<200).map { _ in try server.client() }
            for _ in 0..<2 {
                for client in clients { try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n") }
                for client in clients {
                    let answer = try client.answer()
                    #expect(answer.status == 200)
                }
            }
        }
    }

    @Test func `beyond the limit wait until one ends`() throws {
        var limits = HTTPLimits()
        limits.connectionsMax = 2
        try withServer(limits) { server throws in
            var clients = try (0..<2).map { _ in try server.client() }
            for client in clients {
                try client.send("GET /in HTTP/1.1\r\nHost: a\r\n\r\n")
                let answer = try client.answer()
                #expect(answer.text == "GET /in ")
            }
            let waiting = try server.client()
            try waiting.send("GET /waiting HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(!waiting.isReadable(withinMilliseconds: 50))
            clients.removeLast()
            let answer = try waiting.answer()
            #expect(answer.text == "GET /waiting ")
        }
    }
}
