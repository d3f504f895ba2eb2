internal import CMicroHTTPD
package import EventLoop
import Glibc
package import Telemetry

/// libmicrohttpd on an event loop, as a function from request to response.
///
/// The library parses and writes on the loop's own thread (its external epoll mode). The handler
/// starts inside the library's callback; if it finishes without suspending, the answer is queued
/// there and then, otherwise the connection is suspended until the handler's task, which stays on
/// the loop, has a response. What the library lets through and this server doesn't is refused
/// before the handler sees it, and every phase of a connection has a deadline.
///
/// A few broken requests never reach this code, and the library words the answer: a
/// `Content-Length` that isn't a number (400), one beyond 64 bits (413), a head that is several
/// kilobytes over the limit (431, 414 or no answer), and another major version (505). Each of those
/// closes the connection as well.
@safe package final class HTTPServer: LoopSource, @unchecked Sendable {
    // Sendable: everything but the constants belongs to the loop's thread, and says so where
    // callers come in.
    let configuration: HTTPServerConfiguration
    let loop: EventLoop
    let log: Log
    let handler: @Sendable (HTTPRequest) async -> HTTPResponse

    var daemon: OpaquePointer?
    var connections: [Int32: Connection] = [:]
    var bodyBytesHeld = 0
    var lingering: LingeringSockets
    var drain: Drain?

    /// Where connections come from, once one has come.
    private var acceptor: Acceptor?

    /// The same, for the server that listens.
    private(set) var ownAcceptor: Acceptor?

    /// The loop's clock at the start of this turn.
    private(set) var now: Int64 = 0

    /// The actual port once `start` has returned, also if port 0 was asked for.
    package private(set) var port: UInt16

    /// How many connections are open.
    package var connectionCount: Int { connections.count }

    private var connectionsMax: Int
    private var wasStarted = false
    private var epoll: Int32 = -1
    private var isReady = false
    private var hasResumed = false
    private var isTurning = false
    private var nextScan: Int64 = 0

    /// Exchanges whose connections aren't suspended although their handlers wait, and answered ones
    /// that nobody has taken out.
    private var held: [Exchange] = []

    /// How often the library runs in a turn before other sockets are looked at.
    private static let runsMax = 2

    /// How many connections the library asks about in vain whenever it runs.
    private static let heldMax = 64

    /// Descriptors that connections leave to the rest of the process.
    private static let descriptorsReserved = 64

    /// What the library keeps beside a head: its list of the fields, and the head of the answer.
    private static let headBytesSpare = 8 * 1024

    /// - Parameter handler: Called on the loop, once for each complete request.
    package init(
        configuration: HTTPServerConfiguration, loop: EventLoop, log: Log,
        handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) {
        self.configuration = configuration
        self.loop = loop
        self.log = log
        self.handler = handler
        port = configuration.port
        connectionsMax = configuration.limits.connectionsMax
        lingering = LingeringSockets(limits: configuration.limits, loop: loop)
    }

    /// Listens, and serves as soon as the loop turns. On the loop's thread or before it runs.
    ///
    /// The server then lives until `drain` has returned.
    ///
    /// - Parameter others: servers on loops of their own that were opened, and get their share of
    ///   the connections until this one is drained. `connectionsMax` of this one counts for all.
    package func start(with others: [HTTPServer] = []) throws(HTTPServerError) {
        guard !wasStarted else { throw .alreadyStarted }
        let listener = try Listener(
            address: configuration.address, port: configuration.port,
            backlogMax: configuration.limits.backlogMax)
        limitConnections()
        do throws(HTTPServerError) {
            try open()
        } catch {
            close(listener.descriptor)
            throw error
        }
        port = listener.port
        ownAcceptor = Acceptor(
            listener, servers: [self] + others, connectionsMax: connectionsMax, loop: loop)
    }

    /// Gets ready for the connections that another server's `start` deals out. On the loop's thread
    /// or before it runs.
    package func open() throws(HTTPServerError) {
        guard !wasStarted else { throw .alreadyStarted }
        // A client that has left must not end the process.
        signal(SIGPIPE, SIG_IGN)
        // Released in `stop`: the library holds this pointer as long as it runs.
        let context = unsafe Unmanaged.passRetained(self)
        guard let daemon = unsafe startDaemon(context.toOpaque()) else {
            unsafe context.release()
            throw .libraryRefused
        }
        wasStarted = true
        unsafe self.daemon = unsafe daemon
        now = EventLoop.now()
        epoll = unsafe chttp_epoll_descriptor(daemon)
        loop.add(epoll, .readable) { [unowned self] _ in isReady = true }
        loop.add(self)
    }

    private func startDaemon(_ context: UnsafeMutableRawPointer) -> OpaquePointer? {
        // A little above the limit, so that many heads that are too large are read to their end and
        // refused in the application's words; no more, because the library clears all of it for
        // each request.
        let memory = configuration.limits.headBytesMax + HTTPServer.headBytesSpare
        var options = unsafe [
            MHD_OptionItem(
                option: .CONNECTION_MEMORY_LIMIT, value: memory, ptr_value: nil),
            MHD_OptionItem(
                option: .CONNECTION_LIMIT, value: connectionsMax, ptr_value: nil),
            MHD_OptionItem(option: .END, value: 0, ptr_value: nil),
        ]
        // Without turbo, a client's end of the stream that arrives together with its last bytes
        // goes unnoticed until a deadline; with it, only where the request isn't complete.
        let flags =
            MHD_USE_EPOLL.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue | MHD_USE_TURBO.rawValue
            | MHD_USE_NO_LISTEN_SOCKET.rawValue
        return unsafe chttp_start(
            UInt32(flags), Callbacks.access, Callbacks.completed, Callbacks.notify,
            Callbacks.target, context, &options)
    }

    /// Leaves some of the process's descriptors to others.
    private func limitConnections() {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            return
        }
        let possible = max(1, Int(clamping: limit.rlim_cur) - HTTPServer.descriptorsReserved)
        guard possible < connectionsMax else { return }
        connectionsMax = possible
        log.warning(
            "fewer connections than configured, for want of descriptors",
            ["http.connections_max": possible])
    }

    /// A connection from the acceptor, which may be on another thread.
    func take(_ descriptor: Int32, from acceptor: Acceptor) {
        if loop.isInLoop {
            adopt(descriptor, acceptor)
        } else {
            loop.task { self.adopt(descriptor, acceptor) }
        }
    }

    private func adopt(_ descriptor: Int32, _ acceptor: Acceptor) {
        guard let daemon = unsafe daemon, drain == nil else {
            close(descriptor)
            return acceptor.release(from: self)
        }
        self.acceptor = acceptor
        // The connection's first deadline counts from here.
        now = EventLoop.now()
        // The library closes what it doesn't take.
        guard unsafe MHD_add_connection(daemon, descriptor, nil, 0) == .YES else {
            return acceptor.release(from: self)
        }
        runSoon()
    }

    package func turn() -> Int32 {
        guard let daemon = unsafe daemon else { return -1 }
        isTurning = true
        defer { isTurning = false }
        now = EventLoop.now()
        let hasWork = isReady || hasResumed
        for _ in 0..<HTTPServer.runsMax where isReady || hasResumed {
            isReady = false
            hasResumed = false
            unsafe MHD_run(daemon)
            loop.runJobs()
        }
        if now >= nextScan {
            nextScan = now + HTTPLimits.milliseconds(configuration.limits.deadlineScanSeconds)
            expireDeadlines()
        }
        advanceDrain()
        if !held.isEmpty {
            // While there is work the next turn comes at once, and may bring their answers.
            if hasWork { return 0 }
            for exchange in held { suspend(exchange) }
            held.removeAll(keepingCapacity: true)
        }
        return waitMilliseconds()
    }

    /// How long the loop may wait before the library, a deadline or a drain needs a turn.
    private func waitMilliseconds() -> Int32 {
        guard let daemon = unsafe daemon else { return -1 }
        let wanted = unsafe chttp_timeout(daemon)
        // The library has work that its descriptor doesn't show.
        if wanted == 0 { isReady = true }
        if isReady || hasResumed { return 0 }
        if connections.isEmpty, lingering.isEmpty, drain == nil { return wanted }
        var wait = max(0, nextScan - now)
        if let next = drain?.nextMilliseconds { wait = min(wait, max(0, next - now)) }
        return wanted < 0 ? Int32(clamping: wait) : min(wanted, Int32(clamping: wait))
    }

    /// Leaves a connection as it is until the loop has nothing else to do, since suspending and
    /// resuming it costs three system calls, and most answers don't take so long.
    func hold(_ exchange: Exchange) {
        if held.count >= HTTPServer.heldMax { held.removeAll { $0.stage != .handling } }
        if held.count < HTTPServer.heldMax { held.append(exchange) } else { suspend(exchange) }
    }

    func suspend(_ exchange: Exchange) {
        guard exchange.stage == .handling, let connection = unsafe exchange.pointer else { return }
        exchange.isSuspended = true
        unsafe MHD_suspend_connection(connection)
    }

    /// Has the library ask for a response when it runs.
    func resume(_ exchange: Exchange) {
        guard let connection = unsafe exchange.pointer else { return }
        unsafe exchange.pointer = nil
        hasResumed = true
        if exchange.isSuspended { unsafe MHD_resume_connection(connection) }
        exchange.isSuspended = false
        if !isTurning { loop.turnAgain() }
    }

    /// Has the library look at its sockets in the next turn.
    func runSoon() {
        isReady = true
        if !isTurning { loop.turnAgain() }
    }

    /// A connection is over.
    func madeRoom() { acceptor?.release(from: self) }

    /// Ends the library's work. Nothing may be suspended: it would abort the process.
    func stop() {
        guard let daemon = unsafe daemon else { return }
        // The library may refuse to run in its own callback only, and this isn't one.
        unsafe MHD_run(daemon)
        loop.remove(epoll)
        loop.remove(self)
        unsafe self.daemon = nil
        unsafe MHD_stop_daemon(daemon)
        (acceptor, ownAcceptor) = (nil, nil)
        lingering.closeAll()
        // Retained in `start`.
        unsafe Unmanaged.passUnretained(self).release()
    }
}
