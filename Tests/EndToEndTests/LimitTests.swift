import Base
import Glibc
import PrivatePostgres
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct `Limits of the service` {
    private func post(_ world: World, announcing length: String) -> [UInt8] {
        Array(
            """
            POST /v1/accounts/u1/receipts HTTP/1.1\r
            Host: localhost\r
            Authorization: Bearer \(world.ledger.keys.backend)\r
            \(length)\r
            \r

            """.utf8)
    }

    @Test func `refuse a body of over 1 MiB without reading it`() async throws {
        try await World.run { world throws in
            let connection = try HTTPConnection(port: world.port)
            try connection.send(post(world, announcing: "Content-Length: 1048577"))
            let answer = try connection.answer()
            #expect(answer.status == 413)
            #expect(answer.code == "body_too_large")
            #expect(answer["Content-Type"] == "application/problem+json")
            #expect(answer["Connection"]?.lowercased() == "close")
            // One byte less is read to its end, and then isn't JSON.
            let body = [UInt8](repeating: UInt8(ascii: "x"), count: 1_048_576)
            let read = try world.ask(world.posting(body: body, to: "u1"))
            #expect(read.code == "malformed_json")
        }
    }

    @Test func `cut off a body in chunks that goes on beyond 1 MiB`() async throws {
        try await World.run { world throws in
            let connection = try HTTPConnection(port: world.port)
            try connection.send(post(world, announcing: "Transfer-Encoding: chunked"))
            let chunk =
                Array("10000\r\n".utf8) + [UInt8](repeating: 0x20, count: 65_536)
                + Array("\r\n".utf8)
            for _ in 0..<17 { try? connection.send(chunk) }
            #expect(try connection.answer().status == 413)
        }
    }

    @Test func `cut off a client that sends its head too slowly`() async throws {
        try await World.run { world throws in
            let connection = try HTTPConnection(port: world.port)
            let begin = monotonicSeconds()
            try connection.send(Array("GET /livez HTTP/1.1\r\nHost: a\r\nX: ".utf8))
            // A byte now and then keeps no connection alive.
            let drip = Lock(false)
            let descriptor = dup(connection.descriptor)
            Base.Thread.start {
                while !drip.withLock({ $0 }) {
                    send(descriptor, "x", 1, Int32(MSG_NOSIGNAL))
                    usleep(200_000)
                }
                close(descriptor)
            }
            defer { drip.withLock { $0 = true } }
            let answer = try connection.answer()
            #expect(answer.status == 408)
            #expect(answer.code == "request_timeout")
            #expect((9.5...20).contains(monotonicSeconds() - begin))
            #expect(try world.get("/livez").status == 200)
        }
    }

    @Test func `leave 1,000 idle connections open, and others are served`() async throws {
        try await World.run { world throws in
            let idle = try (0..<1000).map { _ in try HTTPConnection(port: world.port) }
            let sale = try world.shop.sell()
            #expect(try world.post(sale).status == 201)
            #expect(try world.post(sale).status == 409)
            for connection in [idle[0], idle[500], idle[999]] {
                #expect(try connection.ask(HTTPQuestion("GET", "/livez")).status == 200)
            }
            #expect(world.services[0].isRunning)
        }
    }

    @Test func `of the system on descriptors are raised as far as they may be`() async throws {
        try await World.run(services: 0) { world throws in
            let log = world.folder.path + "/serve.log"
            let process = try ChildProcess.start(
                "/bin/sh",
                [
                    "-c", "ulimit -Sn 256; exec \"$0\" serve --listen 127.0.0.1:0 \"$@\"",
                    Program.path,
                ] + world.serveOptions,
                environment: Program.environment(adding: [
                    "COINLEDGER_DATABASE_URL": world.ledger.serviceURL
                ]), output: .file(log), mergesErrors: true)
            defer { process.kill() }
            let isListening = eventually { contents(log).contains("listening") ? true : nil }
            #expect(isListening == true)
            #expect(!contents(log).contains("fewer connections"))
            process.terminate()
            #expect(process.wait(seconds: 10) == .code(0))
        }
    }
}
