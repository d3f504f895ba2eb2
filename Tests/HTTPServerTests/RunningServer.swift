import Base
import EventLoop
import Glibc
import HTTPServer
import Telemetry
import TestSupport

/// A server on a loop and a thread of its own, for as long as `body` runs.
func withServer<Value>(
    _ limits: HTTPLimits = HTTPLimits(),
    handler: @escaping @Sendable (HTTPRequest, EventLoop) async -> HTTPResponse = echo,
    _ body: (RunningServer) throws -> Value
) throws -> Value {
    let server = try RunningServer(limits, handler)
    do {
        let value = try body(server)
        server.stop()
        return value
    } catch {
        server.stop()
        throw error
    }
}

final class RunningServer: Sendable {
    let loop: EventLoop
    let server: HTTPServer
    private let hasStopped = Signal()
    private let kept = Lock<[HTTPConnection]>([])

    init(
        _ limits: HTTPLimits,
        _ handler: @escaping @Sendable (HTTPRequest, EventLoop) async -> HTTPResponse
    ) throws {
        let loop = EventLoop()
        self.loop = loop
        server = HTTPServer(
            configuration: HTTPServerConfiguration(
                port: 0, limits: limits,
                refusal: { HTTPResponse(status: $0.status, body: Array($0.code.utf8)) }),
            loop: loop, log: .none
        ) { await handler($0, loop) }
        try server.start()
        Base.Thread.start { [loop, hasStopped] in
            loop.run()
            hasStopped.send()
        }
    }

    var port: UInt16 { server.port }

    func client() throws -> HTTPConnection { try HTTPConnection(port: port) }

    /// Starts a drain; the signal comes when it's over.
    func drain(milliseconds: Int64) -> Signal {
        let isDrained = Signal()
        loop.task { [server] in
            await server.drain(milliseconds: milliseconds)
            isDrained.send()
        }
        return isDrained
    }

    /// Holds a client open as long as the server runs.
    func keep(_ client: HTTPConnection) { kept.withLock { $0.append(client) } }

    /// Returns when the loop has done what it was asked to do before.
    func waitForTurn() {
        let hasTurned = Signal()
        loop.task { [loop] in
            await loop.sleep(milliseconds: 1)
            hasTurned.send()
        }
        _ = hasTurned.wait()
    }

    /// Whether so many connections come to be open.
    @discardableResult
    func waitForConnections(_ count: Int) -> Bool {
        let hasThem = Signal()
        loop.task { [server, loop] in
            while server.connectionCount != count { await loop.sleep(milliseconds: 1) }
            hasThem.send()
        }
        return hasThem.wait()
    }

    func stop() {
        loop.task { [server, loop] in
            await server.drain(milliseconds: 0)
            loop.stop()
        }
        _ = hasStopped.wait()
    }
}

/// What was asked, as text.
@Sendable func echo(_ request: HTTPRequest, _: EventLoop) async -> HTTPResponse {
    let query = request.query.map { " query=\($0)" } ?? ""
    let text = "\(request.method) \(request.path)\(query) "
    return HTTPResponse(status: 200, body: Array(text.utf8) + request.body)
}

/// Lets one thread wait for what another does.
final class Signal: Sendable {
    private let ends: (read: Int32, write: Int32)

    init() {
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0, "no descriptor left for a pipe")
        self.ends = (ends[0], ends[1])
    }

    deinit {
        close(ends.read)
        close(ends.write)
    }

    func send() { _ = write(ends.write, "x", 1) }

    /// Whether `send` was called once more, before ten seconds are over.
    func wait() -> Bool {
        var poll = pollfd(fd: ends.read, events: Int16(POLLIN), revents: 0)
        guard Glibc.poll(&poll, 1, 10_000) == 1 else { return false }
        var byte: UInt8 = 0
        return read(ends.read, &byte, 1) == 1
    }
}

/// Keeps handlers waiting until it's opened.
final class Door: Sendable {
    private let waiting = Lock<(isOpen: Bool, list: [CheckedContinuation<Void, Never>])>(
        (false, []))

    /// Sent to whenever a handler begins to wait.
    let arrived = Signal()

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = waiting.withLock { waiting in
                if !waiting.isOpen { waiting.list.append(continuation) }
                return waiting.isOpen
            }
            if isOpen { continuation.resume() }
            arrived.send()
        }
    }

    func open() {
        let list = waiting.withLock { waiting in
            defer { waiting = (true, []) }
            return waiting.list
        }
        for continuation in list { continuation.resume() }
    }
}
