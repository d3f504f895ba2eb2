import Base
package import EventLoop

/// One pipelined connection, confined to its event loop.
///
/// Statements are sent at the end of the loop's turn in which they were asked for, many in one
/// go, or at once if it's to be prompt, and are answered in order. A task that is cancelled still
/// waits for its answer. It lives until `close`, or until the connection is lost.
package final class PostgresConnection: @unchecked Sendable {
    // Sendable, because everything checks that it runs on the loop's thread.
    package let loop: EventLoop
    let configuration: PostgresConfiguration
    let wire: LibpqConnection
    private let socket: Int32
    private let isPrompt: Bool

    var waiting: [Call] = []
    /// What was sent, in the order in which the server answers.
    var steps = Queue<Step>()
    /// Names of the statements that are prepared, or will be once what was sent is executed.
    var prepared: Set<String> = []
    /// Those the server refused to prepare last time, and why.
    var unpreparable: [String: PostgresError] = [:]
    var parameters = ParameterBuffer()
    var script: ScriptRun?
    var isSendScheduled = false
    private var statementsOutstanding = 0
    private var watchdog: TimerID?
    private var isWritableAwaited = false

    /// Whether it's closed or lost; every call fails then.
    package private(set) var isBroken = false

    /// Connects, on the loop.
    ///
    /// - Parameter isPrompt: whether statements are sent when they are asked for, so that the server
    ///   is at work while the loop does the rest of its turn. Saves time where few are under way,
    ///   and costs system calls where there are many.
    /// - Throws: `.unavailable` if that fails or takes longer than the configuration allows.
    package static func connect(
        _ configuration: PostgresConfiguration, isPrompt: Bool = false, on loop: EventLoop
    ) async throws(PostgresError) -> PostgresConnection {
        loop.preconditionInLoop()
        let wire = try await Handshake(configuration: configuration, loop: loop).run()
        return PostgresConnection(wire, configuration, isPrompt, loop)
    }

    private init(
        _ wire: LibpqConnection, _ configuration: PostgresConfiguration, _ isPrompt: Bool,
        _ loop: EventLoop
    ) {
        (self.wire, self.configuration, self.loop) = (wire, configuration, loop)
        self.isPrompt = isPrompt
        socket = wire.socket
        loop.add(socket, .readable) { readiness in self.handle(readiness) }
    }

    /// Executes a statement in a transaction of its own, and returns when that is committed.
    ///
    /// - Throws: see `PostgresError`; `isResultUnknown` says whether it may be committed anyway.
    package func execute(
        _ statement: PostgresStatement, _ parameters: [PostgresValue] = []
    ) async throws(PostgresError) -> PostgresRows {
        guard let rows = try await call([(statement, parameters)], isRead: false).first else {
            throw .protocolViolation("no result")
        }
        return rows
    }

    /// Executes statements that only read, in one round trip; one result for each.
    ///
    /// Each sees what is committed when it runs. They may share a transaction with other reads,
    /// so a statement that writes must not come this way.
    package func read(
        _ queries: [(PostgresStatement, [PostgresValue])]
    ) async throws(PostgresError) -> [PostgresRows] {
        try await call(queries, isRead: true)
    }

    /// Closes; whoever waits gets `.connectionLost`.
    package func close() { lose() }

    /// Whether it would take one more statement now.
    package var hasRoom: Bool {
        !isBroken && script == nil && statementsOutstanding < configuration.outstandingMax
    }

    /// Whether nothing is waiting or on its way.
    var isIdle: Bool { !isBroken && script == nil && steps.isEmpty && waiting.isEmpty }

    private func call(
        _ queries: [(PostgresStatement, [PostgresValue])], isRead: Bool
    ) async throws(PostgresError) -> [PostgresRows] {
        loop.preconditionInLoop()
        guard !isBroken else { throw .connectionLost(sent: false) }
        guard script == nil else { throw .unavailable("a script is running") }
        guard statementsOutstanding + queries.count <= configuration.outstandingMax else {
            throw .unavailable("too many statements are waiting")
        }
        guard !queries.isEmpty else { return [] }
        let result = await withCheckedContinuation { continuation in
            let deadline = EventLoop.now() + configuration.answerTimeoutMilliseconds
            let call = Call(queries, isRead: isRead, deadline: deadline, continuation)
            statementsOutstanding += queries.count
            waiting.append(call)
            if isPrompt { sendWaiting() } else { scheduleSend() }
            watch(until: deadline)
        }
        return try result.get()
    }

    func scheduleSend() {
        guard !isSendScheduled else { return }
        isSendScheduled = true
        loop.beforeWaiting { self.sendWaiting() }
    }

    /// Answers a call whose statements are all answered.
    func finish(_ call: Call) {
        guard !call.deservesAnotherTry else {
            call.reset()
            waiting.append(call)
            return scheduleSend()
        }
        statementsOutstanding -= call.queries.count
        call.finish()
    }

    /// Writes what libpq holds, now and whenever the socket takes more.
    func flush() {
        guard let isLeft = wire.flush() else { return lose() }
        guard isLeft != isWritableAwaited else { return }
        isWritableAwaited = isLeft
        loop.modify(socket, isLeft ? [.readable, .writable] : .readable)
    }

    /// Gives the connection up: whoever waits is told whether the server may have got it.
    ///
    /// - Parameter reason: told to the first one in place of that.
    func lose(_ reason: PostgresError? = nil) {
        guard !isBroken else { return }
        isBroken = true
        loop.remove(socket)
        wire.finish()
        if let watchdog { loop.cancel(watchdog) }
        var reason = reason
        // Some wait for several steps, but are told once.
        for call in steps.all.compactMap(\.call) + waiting {
            call.finish(.failure(reason ?? .connectionLost(sent: call.isSent)))
            reason = nil
        }
        script?.finish(reason ?? .connectionLost(sent: true))
        (steps, waiting, script) = (Queue(), [], nil)
    }

    private func handle(_ readiness: Readiness) {
        guard !isBroken else { return }
        guard wire.consume() else {
            // What had arrived before the end may still answer somebody.
            receive()
            return lose()
        }
        receive()
        if !isBroken, isWritableAwaited { flush() }
    }

    /// One timer for all: answers come in order, so the first one is the oldest.
    func watch(until deadline: Int64) {
        guard watchdog == nil else { return }
        let milliseconds = max(1, deadline - EventLoop.now())
        watchdog = loop.after(milliseconds: milliseconds) { [weak self] in self?.checkDeadline() }
    }

    private func checkDeadline() {
        watchdog = nil
        let deadline = script?.deadline ?? steps.first?.call?.deadline ?? waiting.first?.deadline
        guard let deadline else { return }
        if deadline <= EventLoop.now() { lose(.timeout) } else { watch(until: deadline) }
    }
}
