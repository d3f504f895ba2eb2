import Base
import EventLoop
import HTTPServer
import Telemetry
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct `Draining a server` {
    @Test func `idle connections are ended at once`() throws {
        try withServer { server throws in
            let silent = try server.client()
            let used = try server.client()
            try used.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try used.answer()
            // Long beyond the test's limit, so that it isn't waited for.
            let isDrained = server.drain(milliseconds: 3_600_000)
            #expect(isDrained.wait())
            #expect(silent.isEnded())
            #expect(used.isEnded())
            #expect(throws: HTTPConnection.Failure.self) { try server.client() }
        }
    }

    @Test func `what was accepted is finished, and its connection closed`() throws {
        let door = Door()
        try withServer(
            handler: { request, loop in
                await door.pass()
                return await echo(request, loop)
            }
        ) { server throws in
            let client = try server.client()
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(door.arrived.wait())
            let isDrained = server.drain(milliseconds: 3_600_000)
            server.waitForTurn()
            door.open()
            let answer = try client.answer()
            #expect(answer.text == "GET / ")
            #expect(answer["Connection"] == "close")
            #expect(client.isEnded())
            #expect(isDrained.wait())
        }
    }

    @Test func `what never ends is answered with 503, and what comes late is dropped`() throws {
        let door = Door()
        try withServer(
            handler: { request, loop in
                await door.pass()
                return await echo(request, loop)
            }
        ) { server throws in
            let handled = try server.client()
            try handled.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(door.arrived.wait())
            let half = try server.client()
            try half.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
            server.waitForConnections(2)
            let isDrained = server.drain(milliseconds: 50)
            for client in [handled, half] {
                let answer = try client.answer()
                #expect(answer.status == 503)
                #expect(answer.text == "shutting_down")
                #expect(answer["Connection"] == "close")
                #expect(client.isEnded())
            }
            #expect(isDrained.wait())
            door.open()
            server.waitForTurn()
        }
    }

    @Test func `under load every request that was handled is answered`() throws {
        let handled = Lock(0)
        let answered = Lock(0)
        let isUnderLoad = Signal()
        try withServer(
            handler: { request, loop in
                await loop.sleep(milliseconds: 1)
                let count = handled.withLock {
                    $0 += 1
                    return $0
                }
                if count == 300 { isUnderLoad.send() }
                return await echo(request, loop)
            }
        ) { server throws in
            let finished = Signal()
            for _ in 0..<8 {
                let client = try server.client()
                Base.Thread.start {
                    while (try? client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")) != nil,
                        (try? client.answer())?.status == 200
                    { answered.withLock { $0 += 1 } }
                    finished.send()
                }
            }
            #expect(isUnderLoad.wait())
            let isDrained = server.drain(milliseconds: 5000)
            #expect(isDrained.wait())
            for _ in 0..<8 { #expect(finished.wait()) }
            #expect(handled.withLock { $0 } == answered.withLock { $0 })
        }
    }

    @Test func `is over at once for a server that wasn't started or has been drained`() {
        let loop = EventLoop()
        let server = HTTPServer(
            configuration: HTTPServerConfiguration(port: 0), loop: loop, log: .none
        ) { await echo($0, loop) }
        loop.run {
            await server.drain(milliseconds: 3_600_000)
            _ = try? server.start()
            await server.drain(milliseconds: 3_600_000)
            await server.drain(milliseconds: 3_600_000)
        }
        #expect(throws: HTTPServerError.alreadyStarted) { try server.start() }
    }
}
