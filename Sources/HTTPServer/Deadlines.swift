internal import CMicroHTTPD
import Glibc

/// What happens to connections whose time is over.
///
/// The library's own timeout starts anew with every byte, so that a slow sender would stay.
extension HTTPServer {
    func expireDeadlines() {
        lingering.expire(now: now)
        // The list is taken first, because an answer may end a connection and change it.
        let late = connections.values.filter { $0.deadline <= now }
        for connection in late {
            connection.forgetDeadline()
            expire(connection)
        }
        let abandoned = connections.values.filter { $0.phase.isReading && hasLeft($0) }
        for connection in abandoned { end(connection) }
        if !late.isEmpty || !abandoned.isEmpty { runSoon() }
    }

    /// Whether the client has ended its stream, with nothing left to read.
    ///
    /// The library isn't told of an end that comes together with bytes, and if these don't complete
    /// the request, it goes on waiting for more.
    private func hasLeft(_ connection: Connection) -> Bool {
        var byte: UInt8 = 0
        let flags = Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)
        return unsafe recv(connection.descriptor, &byte, 1, flags) == 0
    }

    private func expire(_ connection: Connection) {
        switch connection.phase {
        case .idle:
            end(connection)
        case .head, .body:
            sendRefusal(.requestTimeout, on: connection)
            end(connection)
        case .handling:
            if let exchange = connection.exchange { giveUp(exchange, .handlerTimeout) }
        case .writing:
            reset(connection)
        case .producing:
            discardOnClose(connection)
            connection.exchange?.stream?.abandon()
        }
    }

    /// Lets the library read the end of the stream, upon which it closes the connection.
    func hangUp(_ connection: Connection) {
        connection.isHungUp = true
        shutdown(connection.descriptor, Int32(SHUT_RD))
    }

    func end(_ connection: Connection) {
        shutdown(connection.descriptor, Int32(SHUT_RDWR))
    }

    /// Ends a connection whose client doesn't read, and drops what the system holds for it.
    func reset(_ connection: Connection) {
        discardOnClose(connection)
        end(connection)
    }

    /// Makes the connection end with a reset once it's closed.
    func discardOnClose(_ connection: Connection) {
        var now = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(
            connection.descriptor, SOL_SOCKET, SO_LINGER, &now,
            socklen_t(MemoryLayout<linger>.size))
    }
}
