import Base
import EventLoop
import HTTPServer
import Telemetry

/// A verifyReceipt that answers each of its own receipts with bytes that were chosen for it.
final class FixedVerifier: Sendable {
    private let server: HTTPServer
    private let loop = EventLoop()

    init(_ answer: @escaping @Sendable (Int) -> [UInt8]) throws {
        server = HTTPServer(
            configuration: HTTPServerConfiguration(port: 0), loop: loop, log: .none
        ) { request in
            let text = (try? JSON.parse(request.body))?["receipt-data"]?.string
            let index = text.flatMap(FixedVerifier.index) ?? .max
            return HTTPResponse(status: 200, body: answer(index))
        }
        try server.start()
        Base.Thread.start { [loop] in loop.run() }
    }

    var url: String { "http://127.0.0.1:\(server.port)" }

    func close() {
        loop.task { [server, loop] in
            await server.drain(milliseconds: 0)
            loop.stop()
        }
    }

    /// A text that has the shape of an app receipt: a SEQUENCE with four bytes.
    static func receipt(_ index: Int) -> String {
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: index >> (8 * (3 - $0))) }
        return Base64.encode([0x30, 0x04] + bytes)
    }

    private static func index(_ receipt: String) -> Int? {
        Base64.decode(receipt)?.dropFirst(2).reduce(0) { $0 << 8 | Int($1) }
    }
}
