import Base
import EventLoop
import HTTPServer
import Telemetry
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct `Starting a server` {
    private func start(_ address: String, _ port: UInt16) throws -> (EventLoop, HTTPServer) {
        let loop = EventLoop()
        let server = HTTPServer(
            configuration: HTTPServerConfiguration(address: address, port: port), loop: loop,
            log: .none
        ) { await echo($0, loop) }
        try server.start()
        return (loop, server)
    }

    @Test(arguments: ["127.0.0.1", "::1", "0.0.0.0", "::"])
    func `any numeric address will do, and port 0 takes a free one`(address: String) throws {
        let (loop, server) = try start(address, 0)
        #expect(server.port != 0)
        loop.run { await server.drain(milliseconds: 0) }
    }

    @Test func `an IPv6 address is served`() throws {
        let (loop, server) = try start("::", 0)
        let isOver = Signal()
        Base.Thread.start {
            loop.run()
            isOver.send()
        }
        // An IPv6 socket that is bound to no address in particular takes IPv4 as well.
        let client = try HTTPConnection(port: server.port)
        try client.send("GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n")
        let answer = try client.answer()
        #expect(answer.text == "GET / ")
        loop.task {
            await server.drain(milliseconds: 0)
            loop.stop()
        }
        #expect(isOver.wait())
    }

    @Test func `a port that is taken is an error of its own`() throws {
        let (loop, server) = try start("127.0.0.1", 0)
        #expect(throws: HTTPServerError.addressInUse) { try start("127.0.0.1", server.port) }
        loop.run { await server.drain(milliseconds: 0) }
    }

    @Test(arguments: ["", "localhost", "1.2.3", "127.0.0.1:80", "[::1]"])
    func `a name is no address`(address: String) {
        #expect(throws: HTTPServerError.invalidAddress) { try start(address, 0) }
    }

    @Test func `an address of another machine can't be listened on`() {
        // 192.0.2.0/24 is for documentation only (RFC 5737); 99 is EADDRNOTAVAIL.
        #expect(throws: HTTPServerError.system(call: "bind", errno: 99)) {
            try start("192.0.2.1", 0)
        }
    }
}
