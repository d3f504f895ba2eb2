internal import CMicroHTTPD
import EventLoop
import Glibc

/// A server on its way to its end.
struct Drain {
    /// Until then, requests are finished.
    let deadline: Int64

    /// From the deadline on: until then, the 503s may leave.
    var flushDeadline: Int64?

    let continuation: CheckedContinuation<Void, Never>

    var isOver: Bool { flushDeadline != nil }

    var nextMilliseconds: Int64 { flushDeadline ?? deadline }
}

extension HTTPServer {
    /// Stops accepting connections, finishes what was accepted, refuses what isn't finished after
    /// `milliseconds` with 503, and stops.
    ///
    /// Once, on the loop, from a task that isn't one of the server's own handlers. A server that
    /// wasn't started or has been drained returns at once.
    package func drain(milliseconds: Int64) async {
        loop.preconditionInLoop()
        guard unsafe daemon != nil, drain == nil else { return }
        await withCheckedContinuation { continuation in
            let deadline = EventLoop.now() + max(0, milliseconds)
            drain = Drain(deadline: deadline, continuation: continuation)
            ownAcceptor?.close()
            for connection in connections.values where connection.phase == .idle {
                hangUp(connection)
            }
            runSoon()
        }
    }

    func advanceDrain() {
        guard let drain, let daemon = unsafe daemon else { return }
        if unsafe chttp_connection_count(daemon) == 0 { return finishDrain(drain) }
        if let flushDeadline = drain.flushDeadline {
            if now >= flushDeadline { finishDrain(drain) }
        } else if now >= drain.deadline {
            self.drain?.flushDeadline = deadline(configuration.limits.drainFlushSeconds)
            refuseAll()
        }
    }

    private func refuseAll() {
        for connection in Array(connections.values) {
            switch connection.phase {
            case .idle:
                end(connection)
            case .head, .body:
                sendRefusal(.shuttingDown, on: connection)
                end(connection)
            case .handling:
                if let exchange = connection.exchange { giveUp(exchange, .shuttingDown) }
            case .writing, .producing:
                connection.exchange?.stream?.abandon()
            }
        }
        runSoon()
    }

    private func finishDrain(_ drain: Drain) {
        stop()
        drain.continuation.resume()
    }
}
