import EventLoop

/// Connects without blocking the loop, except while a host's name is looked up.
struct Handshake {
    let configuration: PostgresConfiguration
    let loop: EventLoop

    /// - Throws: `.unavailable` with libpq's words if there is no connection in time.
    func run() async throws(PostgresError) -> LibpqConnection {
        guard let wire = LibpqConnection(configuration.connectionFields) else {
            throw .unavailable("no memory for a connection")
        }
        let deadline = EventLoop.now() + configuration.connectTimeoutSeconds * 1000
        // libpq wants to be asked only when the socket is writable at first.
        var progress = LibpqConnection.Progress.writing
        while !wire.isBad {
            let interest: Readiness
            switch progress {
            case .done:
                guard wire.beginPipeline() else { throw .unavailable(wire.message) }
                return wire
            case .failed: throw .unavailable(wire.message)
            case .reading: interest = .readable
            case .writing: interest = .writable
            }
            // The socket may be another one after each step.
            guard await isReady(wire.socket, interest, before: deadline) else {
                throw .unavailable("no connection within the limit")
            }
            progress = wire.poll()
        }
        throw .unavailable(wire.message)
    }

    private func isReady(_ socket: Int32, _ interest: Readiness, before deadline: Int64) async
        -> Bool
    {
        let left = deadline - EventLoop.now()
        guard socket >= 0, left > 0 else { return false }
        return await withCheckedContinuation { continuation in
            // Whichever comes first puts the other off.
            let timer = loop.after(milliseconds: left) {
                loop.remove(socket)
                continuation.resume(returning: false)
            }
            loop.add(socket, interest) { _ in
                loop.remove(socket)
                loop.cancel(timer)
                continuation.resume(returning: true)
            }
        }
    }
}
