import Base
import HTTPServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct `Broken bytes` {
    private static let requests = [
        "GET /a/b?c=d HTTP/1.1\r\nHost: example.org\r\nX-Name: value\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\nhello",
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nX-T: t\r\n\r\n",
    ]

    /// The library may overlook the end of the stream when it comes together with the last bytes of
    /// an incomplete request; then a deadline ends the connection.
    private static var limits: HTTPLimits {
        var limits = HTTPLimits()
        limits.idleSeconds = 0.1
        limits.headSeconds = 0.1
        limits.bodySeconds = 0.1
        limits.deadlineScanSeconds = 0.01
        return limits
    }

    /// Sends the bytes and no more, and waits for the end of the connection.
    private static func sendAndLeave(_ bytes: [UInt8], _ server: RunningServer) throws {
        let client = try server.client()
        // The server may have ended the connection already.
        try? client.send(bytes)
        client.finishSending()
        #expect(client.comesToAnEnd(), "\(bytes)")
    }

    private static func expectAnswers(_ server: RunningServer) throws {
        let client = try server.client()
        try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let answer = try client.answer()
        #expect(answer.text == "GET / ")
    }

    @Test(arguments: requests)
    func `every prefix of a request comes to an end`(request: String) throws {
        try withServer(Self.limits) { server throws in
            let bytes = Array(request.utf8)
            for length in 0...bytes.count {
                try Self.sendAndLeave(Array(bytes[..<length]), server)
            }
            try Self.expectAnswers(server)
        }
    }

    @Test(arguments: requests)
    func `a request with one byte changed comes to an end`(request: String) throws {
        try withServer(Self.limits) { server throws in
            var generator = SeededRandom(seed: 0x0C01)
            for _ in 0..<1000 {
                var bytes = Array(request.utf8)
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[index] = UInt8.random(in: .min ... .max, using: &generator)
                try Self.sendAndLeave(bytes, server)
            }
            try Self.expectAnswers(server)
        }
    }

    @Test func `noise comes to an end`() throws {
        try withServer(Self.limits) { server throws in
            var generator = SeededRandom(seed: 0x0C02)
            for _ in 0..<200 {
                let length = Int.random(in: 1...300, using: &generator)
                let bytes = (0..<length).map { _ in
                    UInt8.random(in: .min ... .max, using: &generator)
                }
                try Self.sendAndLeave(bytes, server)
            }
            try Self.expectAnswers(server)
        }
    }
}
