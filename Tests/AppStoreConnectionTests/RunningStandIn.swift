import AppStoreConnection
import AppStoreStandIn
import Base
import EventLoop
import Glibc
import Telemetry

/// A stand-in on a loop and a thread of its own, for as long as `body` runs.
func withStandIn(
    _ body: (RunningStandIn) async throws -> Void
) async throws {
    let standIn = try RunningStandIn()
    do {
        try await body(standIn)
    } catch {
        await standIn.stop()
        throw error
    }
    await standIn.stop()
}

final class RunningStandIn: Sendable {
    let store = StandInStore(now: { noon })
    private let loop = EventLoop()
    private let server: StandInServer

    var api: StandInAPI { server.api }
    var url: String { "http://127.0.0.1:\(server.port)" }

    init() throws {
        server = StandInServer(store: store, port: 0, loop: loop, log: .none)
        try server.start()
        Base.Thread.start { [loop] in loop.run() }
    }

    func verifyReceiptClient(
        _ http: HTTPClient, attemptMilliseconds: Int64 = 600_000
    ) -> VerifyReceiptClient {
        var configuration = VerifyReceiptConfiguration()
        configuration.productionURL = url + "/verifyReceipt"
        configuration.sandboxURL = url + "/sandbox/verifyReceipt"
        configuration.attemptMilliseconds = attemptMilliseconds
        // A busy machine must not be taken for a slow store.
        configuration.deadlineMilliseconds = 600_000
        configuration.firstPauseMilliseconds = 1
        return VerifyReceiptClient(http: http, pool: pool, configuration: configuration)
    }

    func stop() async {
        await loop.task { [server, loop] in
            await server.drain(milliseconds: 0)
            loop.stop()
        }.value
    }
}

/// A server that says the same bytes to whoever connects, whatever they ask.
final class RawServer: Sendable {
    let port: UInt16
    private let listener: Int32
    private let connections = Lock<[Int32]>([])
    private let lastRequest = Lock<[UInt8]>([])

    /// What was asked last, or its beginning.
    var request: [UInt8] { lastRequest.withLock { $0 } }

    /// - Parameters:
    ///   - closes: whether the connection ends after them, or stays silent.
    ///   - requestBytesMin: how much of a request is read before.
    init(_ bytes: [UInt8], closes: Bool, requestBytesMin: Int = 1) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                precondition(bind(listener, pointer, size) == 0, "no port is free")
                getsockname(listener, pointer, &size)
            }
        }
        precondition(listen(listener, 16) == 0, "the port can't be listened on")
        port = UInt16(bigEndian: address.sin_port)
        self.listener = listener
        Base.Thread.start { [connections, lastRequest] in
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                let request = RawServer.read(connection, requestBytesMin)
                lastRequest.withLock { $0 = request }
                _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
                if closes {
                    close(connection)
                } else {
                    connections.withLock { $0.append(connection) }
                }
            }
        }
    }

    private static func read(_ connection: Int32, _ bytesMin: Int) -> [UInt8] {
        var request: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65536)
        while request.count < bytesMin {
            let count = recv(connection, &part, part.count, 0)
            guard count > 0 else { break }
            request += part[..<count]
        }
        return request
    }

    var url: String { "http://127.0.0.1:\(port)" }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        for connection in connections.withLock({ $0 }) { close(connection) }
    }
}
