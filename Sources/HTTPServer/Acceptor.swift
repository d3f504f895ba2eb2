import Base
import CLinux
import EventLoop
import Glibc
import Telemetry

/// Accepts the connections of one port and deals them out to servers, each on a loop of its own.
///
/// The server that has the fewest gets the next, of equal ones the first: a lone client is always
/// served by the first loop, many are spread evenly. Once the servers together have
/// `connectionsMax`, further ones wait in the socket's backlog.
final class Acceptor: @unchecked Sendable {
    // Sendable: other threads reach only `state`; the rest belongs to the loop's thread.
    private let listener: Listener
    private let servers: [HTTPServer]
    private let connectionsMax: Int
    private let loop: EventLoop
    private let state: Lock<State>
    private var isClosed = false
    private var isWatching = false

    private struct State {
        /// The connections of each server, those on their way to it included.
        var counts: [Int]
        var isFull = false
    }

    /// How many are accepted before other sockets are looked at again.
    private static let acceptsMax = 64

    /// How long nothing is accepted after the system had no descriptor or memory for it.
    private static let pauseMilliseconds: Int64 = 100

    /// Takes the listener over. On the loop's thread or before it runs.
    init(_ listener: Listener, servers: [HTTPServer], connectionsMax: Int, loop: EventLoop) {
        self.listener = listener
        self.servers = servers
        self.connectionsMax = connectionsMax
        self.loop = loop
        state = Lock(State(counts: servers.map { _ in 0 }))
        watch()
    }

    /// Accepts no more, and refuses those that wait.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        unwatch()
        Glibc.close(listener.descriptor)
    }

    /// A connection of `server` is over, or didn't come to be. On any thread.
    func release(from server: HTTPServer) {
        let wasFull = state.withLock { state in
            for (index, candidate) in servers.enumerated() where candidate === server {
                state.counts[index] -= 1
            }
            defer { state.isFull = false }
            return state.isFull
        }
        guard wasFull else { return }
        if loop.isInLoop { watch() } else { loop.task { self.watch() } }
    }

    private func watch() {
        guard !isClosed, !isWatching else { return }
        isWatching = true
        loop.add(listener.descriptor, .readable) { [unowned self] _ in acceptWaiting() }
    }

    private func unwatch() {
        guard isWatching else { return }
        isWatching = false
        loop.remove(listener.descriptor)
    }

    private func acceptWaiting() {
        for _ in 0..<Acceptor.acceptsMax {
            guard let server = reserve() else { return unwatch() }
            let descriptor = accept4(
                listener.descriptor, nil, nil,
                Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue))
            guard descriptor < 0 else {
                server.take(descriptor, from: self)
                continue
            }
            let failure = errno
            release(from: server)
            switch failure {
            case EAGAIN: return
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return pause()
            // Of a client that has left again: the next may be there.
            default: continue
            }
        }
    }

    /// Counts one more connection, and says whose it is; nil if there may be none.
    private func reserve() -> HTTPServer? {
        state.withLock { state in
            guard state.counts.reduce(0, +) < connectionsMax,
                let index = state.counts.indices.min(by: { state.counts[$0] < state.counts[$1] })
            else {
                state.isFull = true
                return nil
            }
            state.counts[index] += 1
            return servers[index]
        }
    }

    private func pause() {
        unwatch()
        loop.after(milliseconds: Acceptor.pauseMilliseconds) { [weak self] in self?.watch() }
    }
}
