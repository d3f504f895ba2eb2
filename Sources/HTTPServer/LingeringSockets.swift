internal import CMicroHTTPD
import EventLoop
import Glibc

/// Sockets of refused requests, whose remaining bytes are thrown away.
///
/// Closing a socket with unread bytes resets the connection, and a reset may overtake the answer
/// that was sent before it (RFC 9112, section 9.6). The library closes; so a second descriptor of
/// the same socket stays open a little longer.
final class LingeringSockets {
    private struct Entry {
        let copy: Int32
        let deadline: Int64
        var bytesLeft: Int
    }

    private let limits: HTTPLimits
    private let loop: EventLoop

    /// By the library's descriptor while that is open, and by the negative of the copy afterwards,
    /// since the library's number may then be used again.
    private var entries: [Int32: Entry] = [:]

    private static let readBytesMax = 64 * 1024

    init(limits: HTTPLimits, loop: EventLoop) {
        self.limits = limits
        self.loop = loop
    }

    var isEmpty: Bool { entries.isEmpty }

    /// Keeps the socket open, if there is room for one more.
    func add(_ descriptor: Int32) {
        guard entries[descriptor] == nil, entries.count < limits.lingerConnectionsMax else {
            return
        }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return }
        let deadline = EventLoop.now() + HTTPLimits.milliseconds(limits.lingerSeconds)
        entries[descriptor] = Entry(
            copy: copy, deadline: deadline, bytesLeft: limits.lingerBytesMax)
    }

    /// Everything has been sent on the socket; its client's bytes are read and dropped from now on.
    func finish(_ descriptor: Int32) {
        guard let entry = entries.removeValue(forKey: descriptor) else { return }
        shutdown(entry.copy, Int32(SHUT_WR))
        let key = -entry.copy
        entries[key] = entry
        loop.add(entry.copy, .readable) { [weak self] _ in self?.discard(key) }
    }

    func expire(now: Int64) {
        for (key, entry) in entries where entry.deadline <= now { close(key) }
    }

    func closeAll() {
        for key in Array(entries.keys) { close(key) }
    }

    private func discard(_ key: Int32) {
        guard let entry = entries[key] else { return }
        // Doesn't wait: the copy shares the mode that the library gave the socket.
        let count = unsafe withUnsafeTemporaryAllocation(
            byteCount: LingeringSockets.readBytesMax, alignment: 1
        ) { unsafe read(entry.copy, $0.baseAddress, $0.count) }
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        let left = entry.bytesLeft - count
        guard count > 0, left > 0 else { return close(key) }
        entries[key]?.bytesLeft = left
    }

    private func close(_ key: Int32) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        loop.remove(entry.copy)
        Glibc.close(entry.copy)
    }
}
