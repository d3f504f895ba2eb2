import Base
import Glibc
import PrivatePostgres
import TestSupport

/// Stands between clients and PostgreSQL, and cuts a connection at a chosen moment of an append.
///
/// It listens on the socket of a server at port 5432 in its folder.
final class CuttingProxy: Sendable {
    enum Cut {
        /// The server never hears of the append.
        case beforeForwarding
        /// The server gets it and goes on without a client.
        case whileExecuting
        /// The server has committed, and its answer goes nowhere.
        case afterCommit
    }

    let folder: TemporaryFolder
    private let serverPath: String
    private let listener: Int32
    private let state = Lock<(armed: [Cut], count: Int)>(([], 0))

    init(to serverPath: String) throws {
        self.serverPath = serverPath
        folder = try TemporaryFolder()
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let bound = CuttingProxy.withAddress(folder.path + "/.s.PGSQL.5432") {
            bind(listener, $0, $1)
        }
        guard bound == 0, listen(listener, 64) == 0 else { throw SystemError.last }
        Thread.start { [self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                Thread.start { self.serve(client) }
            }
        }
    }

    /// The next appends are cut, one each, whichever connection they come by.
    func arm(_ cuts: Cut...) { state.withLock { $0.armed += cuts } }

    /// How many connections were cut.
    var count: Int { state.withLock { $0.count } }

    /// Ends the listening; connections end with their clients.
    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        folder.remove()
    }

    private func serve(_ client: Int32) {
        let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(server) }
        var isClientOpen = true
        defer { if isClientOpen { close(client) } }
        guard CuttingProxy.withAddress(serverPath, { connect(server, $0, $1) }) == 0 else { return }
        var cut: Cut?
        while true {
            var sockets = [pollfd(fd: server, events: Int16(POLLIN), revents: 0)]
            if isClientOpen {
                sockets.append(pollfd(fd: client, events: Int16(POLLIN), revents: 0))
            }
            guard poll(&sockets, nfds_t(sockets.count), -1) > 0 else { return }
            if sockets[0].revents != 0 {
                guard let bytes = CuttingProxy.read(server) else { return }
                let isCommitted = bytes.contains(CuttingProxy.readyForQuery)
                if cut != nil, isCommitted { return }
                if cut == nil { CuttingProxy.write(bytes, to: client) }
            }
            guard sockets.count == 2, sockets[1].revents != 0 else { continue }
            guard let bytes = CuttingProxy.read(client) else { return }
            if cut == nil, bytes.contains(CuttingProxy.appendStatement) { cut = next() }
            if case .beforeForwarding = cut { return }
            CuttingProxy.write(bytes, to: server)
            if case .whileExecuting = cut {
                close(client)
                isClientOpen = false
            }
        }
    }

    private func next() -> Cut? {
        state.withLock { state in
            guard !state.armed.isEmpty else { return nil }
            state.count += 1
            return state.armed.removeFirst()
        }
    }

    /// The name of the prepared statement, as it stands in Parse and Bind.
    private static let appendStatement = Array("append".utf8) + [0]
    /// The message that follows the end of a transaction.
    private static let readyForQuery: [UInt8] = [UInt8(ascii: "Z"), 0, 0, 0, 5]

    private static func read(_ socket: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        let count = Glibc.read(socket, &buffer, buffer.count)
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    private static func write(_ bytes: [UInt8], to socket: Int32) {
        var sent = 0
        while sent < bytes.count {
            let rest = Array(bytes[sent...])
            let count = send(socket, rest, rest.count, Int32(MSG_NOSIGNAL))
            guard count > 0 else { return }
            sent += count
        }
    }

    private static func withAddress(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
