import Base
import EventLoop
import HTTPServer
import Telemetry
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct `Servers that share a port` {
    private func servers(
        _ limits: HTTPLimits = HTTPLimits(), _ body: (UInt16, [Runner]) throws -> Void
    ) throws {
        let runners = (0..<2).map { Runner($0, limits) }
        try runners[1].server.open()
        try runners[0].server.start(with: [runners[1].server])
        for runner in runners { runner.run() }
        // The one that listens comes first.
        defer { for runner in runners { runner.stop() } }
        try body(runners[0].server.port, runners)
    }

    /// A server on a loop and thread of its own, which answers with its number.
    private final class Runner: Sendable {
        let loop = EventLoop()
        let server: HTTPServer
        private let hasStopped = Signal()

        init(_ number: Int, _ limits: HTTPLimits) {
            server = HTTPServer(
                configuration: HTTPServerConfiguration(port: 0, limits: limits), loop: loop,
                log: .none
            ) { _ in HTTPResponse(status: 200, body: Array("\(number)".utf8)) }
        }

        func run() {
            Base.Thread.start { [loop, hasStopped] in
                loop.run()
                hasStopped.send()
            }
        }

        func stop() {
            loop.task { [server, loop] in
                await server.drain(milliseconds: 0)
                loop.stop()
            }
            _ = hasStopped.wait()
        }
    }

    private func answer(_ client: HTTPConnection) throws -> String {
        try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        return try client.answer().text
    }

    @Test func `take turns, and a lone client is the first one's`() throws {
        try servers { port, _ in
            var clients: [HTTPConnection] = []
            for expected in ["0", "1", "0", "1", "0"] {
                clients.append(try HTTPConnection(port: port))
                #expect(try answer(clients[clients.count - 1]) == expected)
            }
            for _ in 0..<2 {
                #expect(try clients.map(answer) == ["0", "1", "0", "1", "0"])
            }
        }
    }

    @Test func `give the next connection to the one that has the fewest`() throws {
        try servers { port, _ in
            let first = try HTTPConnection(port: port)
            var second: HTTPConnection? = try HTTPConnection(port: port)
            #expect(try answer(first) == "0")
            #expect(try second.map(answer) == "1")
            // Asks for the end, so that it's counted before the answer is complete.
            try second?.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(try second?.answer().text == "1")
            #expect(second?.isReadable(withinMilliseconds: 5000) == true)
            second = nil
            let third = try HTTPConnection(port: port)
            #expect(try answer(third) == "1")
        }
    }

    @Test func `have one limit of connections together`() throws {
        var limits = HTTPLimits()
        limits.connectionsMax = 3
        try servers(limits) { port, _ in
            var clients = try (0..<3).map { _ in try HTTPConnection(port: port) }
            #expect(try clients.map(answer) == ["0", "1", "0"])
            let waiting = try HTTPConnection(port: port)
            try waiting.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(!waiting.isReadable(withinMilliseconds: 50))
            // It was the second server's, which has to tell the first that there is room.
            clients.remove(at: 1)
            #expect(try waiting.answer().text == "1")
        }
    }

    @Test func `refuse a connection when the first has been drained`() throws {
        try servers { port, runners in
            let clients = try (0..<2).map { _ in try HTTPConnection(port: port) }
            #expect(try clients.map(answer) == ["0", "1"])
            let isDrained = Signal()
            runners[0].loop.task { [server = runners[0].server] in
                await server.drain(milliseconds: 1000)
                isDrained.send()
            }
            #expect(isDrained.wait())
            #expect(throws: HTTPConnection.Failure.self) { try HTTPConnection(port: port) }
            #expect(try answer(clients[1]) == "1")
        }
    }
}
