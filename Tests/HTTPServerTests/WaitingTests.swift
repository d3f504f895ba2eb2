import HTTPServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct `Requests whose handlers wait` {
    private static let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    /// More than the library is asked about in vain.
    @Test func `are answered however many they are, and their connections after them`() throws {
        let door = Door()
        try withServer(handler: { request, loop in
            if request.query == nil { await door.pass() }
            return await echo(request, loop)
        }) { server throws in
            let clients = try (0..<150).map { _ in try server.client() }
            for client in clients { try client.send(Self.request) }
            for _ in clients { #expect(door.arrived.wait()) }
            // Others go on meanwhile.
            let other = try server.client()
            try other.send("GET /?now HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try other.answer().status == 200)
            door.open()
            for client in clients { #expect(try client.answer().text == "GET / ") }
            for client in clients { try client.send(Self.request) }
            for client in clients { #expect(try client.answer().text == "GET / ") }
        }
    }

    @Test func `may lose their clients`() throws {
        let door = Door()
        try withServer(handler: { request, loop in
            if request.query == nil { await door.pass() }
            return await echo(request, loop)
        }) { server throws in
            var clients = try (0..<10).map { _ in try server.client() }
            for client in clients { try client.send(Self.request) }
            for _ in clients { #expect(door.arrived.wait()) }
            clients.removeLast(5)
            server.waitForTurn()
            door.open()
            for client in clients { #expect(try client.answer().text == "GET / ") }
            #expect(server.waitForConnections(clients.count))
        }
    }

    @Test func `keep what follows them for later`() throws {
        let door = Door()
        try withServer(handler: { request, loop in
            if request.query == nil { await door.pass() }
            return await echo(request, loop)
        }) { server throws in
            let client = try server.client()
            try client.send(Self.request)
            #expect(door.arrived.wait())
            try client.send("GET /?next HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(!client.isReadable(withinMilliseconds: 50))
            door.open()
            #expect(try client.answer().text == "GET / ")
            #expect(try client.answer().text == "GET / query=next ")
        }
    }
}
