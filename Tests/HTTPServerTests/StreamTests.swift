import Base
import EventLoop
import HTTPServer
import TestSupport
import Testing

/// Answers that are written while they are sent.
@Suite(.timeLimit(.minutes(15))) struct `Streaming an answer` {
    private static func handler(
        _ producer: @escaping HTTPBodyProducer
    ) -> @Sendable (HTTPRequest, EventLoop) async -> HTTPResponse {
        { _, _ in HTTPResponse(status: 200, headers: [("X-A", "1")], producer: producer) }
    }

    private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test func `parts arrive in their order, and the connection goes on`() throws {
        let producer: HTTPBodyProducer = { write in
            for number in 0..<100 { _ = await write(Array("\(number),".utf8)) }
        }
        try withServer(handler: Self.handler(producer)) { server throws in
            let client = try server.client()
            for _ in 0..<2 {
                try client.send(Self.get)
                let answer = try client.answer()
                #expect(answer.status == 200)
                #expect(answer["X-A"] == "1")
                #expect(answer.text == (0..<100).map { "\($0)," }.joined())
            }
        }
    }

    @Test func `what is written arrives before the rest is made`() throws {
        let door = Door()
        let producer: HTTPBodyProducer = { write in
            _ = await write(Array("first".utf8))
            await door.pass()
            _ = await write(Array("second".utf8))
        }
        try withServer(handler: Self.handler(producer)) { server throws in
            let client = try server.client()
            try client.send(Self.get)
            #expect(door.arrived.wait())
            var received = ""
            while !received.contains("first") {
                received += try client.available()
            }
            #expect(!received.contains("second"))
            door.open()
            while !received.contains("\r\n0\r\n\r\n") { received += try client.available() }
            #expect(received.contains("second"))
        }
    }

    @Test func `an empty one ends at once`() throws {
        try withServer(handler: Self.handler { _ in }) { server throws in
            let client = try server.client()
            try client.send(Self.get)
            #expect(try client.answer().text == "")
            try client.send(Self.get)
            #expect(try client.answer().status == 200)
        }
    }

    @Test func `a slow client makes the producer wait, whatever is still to come`() throws {
        let written = Lock(0)
        let part = [UInt8](repeating: UInt8(ascii: "x"), count: 64 * 1024)
        let parts = 1024
        let producer: HTTPBodyProducer = { write in
            for _ in 0..<parts {
                guard await write(part) else { return }
                written.withLock { $0 += 1 }
            }
        }
        try withServer(handler: Self.handler(producer)) { server throws in
            let client = try HTTPConnection(port: server.port, receiveBufferBytes: 4096)
            try client.send(Self.get)
            // Until nothing moves any more.
            var last = -1
            while last != written.withLock({ $0 }) {
                last = written.withLock { $0 }
                for _ in 0..<50 { server.waitForTurn() }
            }
            #expect((1..<parts / 2).contains(last))
            #expect(try client.answer().text.utf8.count == parts * part.count)
            #expect(written.withLock { $0 } == parts)
        }
    }

    @Test func `a client that has left ends the producer`() throws {
        let isOver = Signal()
        let producer: HTTPBodyProducer = { write in
            let part = [UInt8](repeating: 0, count: 64 * 1024)
            while await write(part) {}
            isOver.send()
        }
        try withServer(handler: Self.handler(producer)) { server throws in
            do {
                let client = try server.client()
                try client.send(Self.get)
                _ = try client.available()
                client.resetWhenClosed()
            }
            #expect(isOver.wait())
            #expect(try server.client().isReadable(withinMilliseconds: 0) == false)
        }
    }

    @Test func `a producer that stands still is given up after the time of a handler`() throws {
        var limits = HTTPLimits()
        limits.handlerSeconds = 0.05
        limits.deadlineScanSeconds = 0.01
        let door = Door()
        let isTold = Signal()
        let producer: HTTPBodyProducer = { write in
            _ = await write(Array("first".utf8))
            await door.pass()
            if await !write(Array("second".utf8)) { isTold.send() }
        }
        try withServer(limits, handler: Self.handler(producer)) { server throws in
            let client = try server.client()
            try client.send(Self.get)
            #expect(client.comesToAnEnd())
            door.open()
            #expect(isTold.wait())
        }
    }

    @Test func `a client that doesn't read is given up after the time of an answer`() throws {
        var limits = HTTPLimits()
        limits.writeSeconds = 0.05
        limits.deadlineScanSeconds = 0.01
        let isOver = Signal()
        let producer: HTTPBodyProducer = { write in
            let part = [UInt8](repeating: 0, count: 64 * 1024)
            while await write(part) {}
            isOver.send()
        }
        try withServer(limits, handler: Self.handler(producer)) { server throws in
            let client = try HTTPConnection(port: server.port, receiveBufferBytes: 4096)
            try client.send(Self.get)
            #expect(isOver.wait())
            #expect(server.waitForConnections(0))
        }
    }

    @Test func `a drain waits for it, and ends it when its time is over`() throws {
        for milliseconds: Int64 in [3_600_000, 0] {
            let door = Door()
            let producer: HTTPBodyProducer = { write in
                _ = await write(Array("first,".utf8))
                await door.pass()
                _ = await write(Array("second".utf8))
            }
            try withServer(handler: Self.handler(producer)) { server throws in
                let client = try server.client()
                try client.send(Self.get)
                #expect(door.arrived.wait())
                let isDrained = server.drain(milliseconds: milliseconds)
                server.waitForTurn()
                if milliseconds == 0 { #expect(isDrained.wait()) }
                door.open()
                let body = try? client.answer().text
                #expect(body == (milliseconds == 0 ? nil : "first,second"))
                if milliseconds > 0 { #expect(isDrained.wait()) }
            }
        }
    }

    @Test func `to a client of HTTP 1.0 ends with its connection`() throws {
        let producer: HTTPBodyProducer = { write in _ = await write(Array("all".utf8)) }
        try withServer(handler: Self.handler(producer)) { server throws in
            let client = try server.client()
            try client.send("GET / HTTP/1.0\r\n\r\n")
            let text = try #require(client.rest())
            #expect(text.hasSuffix("\r\n\r\nall"))
        }
    }
}

@Suite(.timeLimit(.minutes(15))) struct `A path with bodies of its own size` {
    private static var limits: HTTPLimits {
        var limits = HTTPLimits()
        limits.bodyBytesMax = 10
        limits.bodyBytesMaxByPath = ["/large": 1000]
        return limits
    }

    @Test(arguments: [("/large?x", 1000, 200), ("/large", 1001, 413), ("/larger", 11, 413)])
    func `takes what others don't, announced or in chunks`(
        path: String, length: Int, status: Int
    ) throws {
        try withServer(Self.limits) { server throws in
            let body = String(repeating: "b", count: length)
            let hexadecimal = String(length, radix: 16)
            for (field, text) in [
                ("Content-Length: \(length)", body),
                ("Transfer-Encoding: chunked", "\(hexadecimal)\r\n\(body)\r\n0\r\n\r\n"),
            ] {
                let client = try server.client()
                try client.send("POST \(path) HTTP/1.1\r\nHost: a\r\n\(field)\r\n\r\n")
                // A refusal may come before the body is sent.
                try? client.send(text)
                #expect(try client.answer().status == status)
            }
        }
    }
}

extension HTTPConnection {
    /// What has arrived, at least something.
    fileprivate func available() throws -> String {
        guard let text = try more() else { throw Failure("recv") }
        return text
    }
}
