package import EventLoop
package import Telemetry

/// A few connections to one database, confined to an event loop, made when they are needed.
///
/// A lost connection is made again by the next call; after a failure, attempts are put off for
/// longer and longer, and calls fail at once meanwhile. Calls go round the connections. A client
/// with one connection executes everything in the order in which it was asked.
package final class PostgresClient: @unchecked Sendable {
    // Sendable, because everything checks that it runs on the loop's thread.
    private let configuration: PostgresConfiguration
    private let isPrompt: Bool
    private let loop: EventLoop
    private let log: Log
    private let slots: [Slot]
    private var nextSlot = 0
    private var waiters: [CheckedContinuation<Result<Void, PostgresError>, Never>] = []
    private var lastReason = "not connected yet"
    private var isClosed = false

    /// How many calls wait for a connection that is being made; more are refused at once.
    package static let waitersMax = 4_096
    /// How long attempts are put off after the first failure, and at most.
    package static let backoffMillisecondsMin: Int64 = 50
    package static let backoffMillisecondsMax: Int64 = 2_000

    private final class Slot {
        var connection: PostgresConnection?
        var isConnecting = false
        var backoffMilliseconds: Int64 = 0
        var notBefore: Int64 = 0

        var live: PostgresConnection? {
            guard let connection, !connection.isBroken else { return nil }
            return connection
        }
    }

    /// Connects to nothing yet.
    ///
    /// - Parameter isPrompt: see `PostgresConnection.connect`.
    package init(
        _ configuration: PostgresConfiguration, connections: Int = 1, isPrompt: Bool = false,
        on loop: EventLoop, log: Log = .none
    ) {
        (self.configuration, self.loop, self.log) = (configuration, loop, log)
        self.isPrompt = isPrompt
        slots = (0..<max(1, connections)).map { _ in Slot() }
    }

    /// See `PostgresConnection.execute`.
    package func execute(
        _ statement: PostgresStatement, _ parameters: [PostgresValue] = []
    ) async throws(PostgresError) -> PostgresRows {
        try await connection().execute(statement, parameters)
    }

    /// See `PostgresConnection.read`.
    package func read(
        _ queries: [(PostgresStatement, [PostgresValue])]
    ) async throws(PostgresError) -> [PostgresRows] {
        try await connection().read(queries)
    }

    /// Calls `body` with a connection that others use at the same time.
    ///
    /// - Throws: `.unavailable` if there is none, or what `body` throws.
    package func withConnection<Value: Sendable>(
        _ body: (PostgresConnection) async throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        try await body(connection())
    }

    /// Whether a connection is up, as far as is known.
    package var isConnected: Bool { slots.contains { $0.live != nil } }

    /// Closes every connection; calls that wait and later ones fail.
    package func close() {
        loop.preconditionInLoop()
        isClosed = true
        lastReason = "the client is closed"
        for slot in slots {
            slot.connection?.close()
            slot.connection = nil
        }
        resumeWaiters(.failure(.unavailable(lastReason)))
    }

    /// The next live connection; if there is none, waits for one that is being made.
    private func connection() async throws(PostgresError) -> PostgresConnection {
        loop.preconditionInLoop()
        if let live = nextLive() { return live }
        guard !isClosed, slots.contains(where: \.isConnecting) else {
            throw .unavailable(lastReason)
        }
        guard waiters.count < PostgresClient.waitersMax else {
            throw .unavailable("too many calls wait for a connection")
        }
        let result = await withCheckedContinuation { waiters.append($0) }
        try result.get()
        guard let live = nextLive() else { throw .unavailable(lastReason) }
        return live
    }

    private func nextLive() -> PostgresConnection? {
        var chosen: PostgresConnection?
        let first = nextSlot
        for offset in slots.indices {
            let index = (first + offset) % slots.count
            guard let live = slots[index].live else {
                connect(slots[index])
                continue
            }
            // A full one is taken only if all are, and then refuses.
            if chosen?.hasRoom != true, chosen == nil || live.hasRoom {
                chosen = live
                nextSlot = (index + 1) % slots.count
            }
        }
        return chosen
    }

    private func connect(_ slot: Slot) {
        guard !isClosed, !slot.isConnecting, slot.notBefore <= EventLoop.now() else { return }
        if slot.connection != nil { log.warning("database connection lost") }
        slot.connection = nil
        slot.isConnecting = true
        let index = slots.firstIndex { $0 === slot }
        loop.task { [self] in
            do throws(PostgresError) {
                let made = try await PostgresConnection.connect(
                    configuration, isPrompt: isPrompt, on: loop)
                didConnect(index, made)
            } catch {
                didFail(index, error)
            }
        }
    }

    private func didConnect(_ index: Int?, _ connection: PostgresConnection) {
        guard !isClosed, let index else { return connection.close() }
        let slot = slots[index]
        slot.isConnecting = false
        slot.backoffMilliseconds = 0
        slot.connection = connection
        log.info("database connected")
        resumeWaiters(.success(()))
    }

    private func didFail(_ index: Int?, _ error: PostgresError) {
        guard !isClosed, let index else { return }
        let slot = slots[index]
        slot.isConnecting = false
        slot.backoffMilliseconds = min(
            PostgresClient.backoffMillisecondsMax,
            max(PostgresClient.backoffMillisecondsMin, slot.backoffMilliseconds * 2))
        slot.notBefore = EventLoop.now() + slot.backoffMilliseconds
        if case .unavailable(let reason) = error { lastReason = reason }
        log.warning("database connection failed", ["error": error.debugDescription])
        guard !slots.contains(where: \.isConnecting) else { return }
        resumeWaiters(.failure(.unavailable(lastReason)))
    }

    private func resumeWaiters(_ result: Result<Void, PostgresError>) {
        let resumed = waiters
        waiters = []
        for waiter in resumed { waiter.resume(returning: result) }
    }
}
