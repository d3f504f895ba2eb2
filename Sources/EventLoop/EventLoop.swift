import Base
import CLinux
import Glibc
import Synchronization

/// One thread that waits for sockets with epoll and runs the tasks that prefer it.
///
/// It's a `TaskExecutor`: a task started with `task` or `immediate` resumes here after every
/// `await`, so that request handlers, libmicrohttpd and libpq share one thread and hand work to
/// each other without a lock or a system call. Whatever is confined to the loop checks so with
/// `preconditionInLoop`.
@safe package final class EventLoop: TaskExecutor, @unchecked Sendable {
    // Sendable: other threads reach only `inbox`, `threadID` and `wakeup`; the rest belongs to the
    // thread inside `run`.
    private let epoll: Int32
    private let wakeup: Int32
    private let inbox = Lock<[UnownedJob]>([])
    private let threadID = Atomic<UInt>(0)

    private var jobs: [UnownedJob] = []
    private var deferred: [() -> Void] = []
    private var handlers: [Int32: (Readiness) -> Void] = [:]
    private var sources: [any LoopSource] = []
    private var timers = TimerQueue()
    private var isStopped = false
    private var mayWait = true

    /// How many rounds of ready jobs run before sockets are looked at again.
    private static let jobRoundsMax = 16
    private static let eventsMax = 256

    package init() {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        wakeup = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        precondition(epoll >= 0 && wakeup >= 0, "the system has no descriptor left for a loop")
        control(EPOLL_CTL_ADD, wakeup, .readable)
    }

    deinit {
        close(epoll)
        close(wakeup)
    }

    /// Starts a task on the loop; it begins in the loop's next turn.
    @discardableResult
    package func task<Value: Sendable>(
        _ body: @escaping @concurrent @Sendable () async -> Value
    ) -> Task<Value, Never> {
        Task(executorPreference: self, operation: body)
    }

    /// Starts a task that runs at once, up to its first suspension. Only on the loop's thread.
    package func immediate(_ body: @escaping @concurrent @Sendable () async -> Void) {
        preconditionInLoop()
        Task.immediate(executorPreference: self, operation: body)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isInLoop {
            jobs.append(job)
            return
        }
        let wasEmpty = inbox.withLock { inbox in
            inbox.append(job)
            return inbox.count == 1
        }
        if wasEmpty { wake() }
    }

    package var isInLoop: Bool { threadID.load(ordering: .relaxed) == EventLoop.currentThreadID }

    package func preconditionInLoop() {
        precondition(isInLoop, "this belongs to the event loop's thread")
    }

    /// Runs `body` once, after the jobs that are ready now and before the loop waits again.
    package func beforeWaiting(_ body: @escaping () -> Void) {
        deferred.append(body)
    }

    /// Calls `handler` on the loop whenever `descriptor` is ready, until `remove`.
    package func add(
        _ descriptor: Int32, _ interest: Readiness, _ handler: @escaping (Readiness) -> Void
    ) {
        handlers[descriptor] = handler
        control(EPOLL_CTL_ADD, descriptor, interest)
    }

    package func modify(_ descriptor: Int32, _ interest: Readiness) {
        control(EPOLL_CTL_MOD, descriptor, interest)
    }

    package func remove(_ descriptor: Int32) {
        guard handlers.removeValue(forKey: descriptor) != nil else { return }
        control(EPOLL_CTL_DEL, descriptor, [])
    }

    /// Adds something that has work to do in every turn, such as libmicrohttpd.
    package func add(_ source: any LoopSource) {
        sources.append(source)
        // Its first turn mustn't wait for something else to happen.
        turnAgain()
    }

    package func remove(_ source: any LoopSource) { sources.removeAll { $0 === source } }

    /// Calls `body` on the loop after `milliseconds`, unless cancelled before.
    @discardableResult
    package func after(milliseconds: Int64, _ body: @escaping () -> Void) -> TimerID {
        preconditionInLoop()
        return timers.add(deadline: EventLoop.now() + milliseconds, body)
    }

    package func cancel(_ timer: TimerID) { timers.cancel(timer) }

    /// Suspends the calling task, which must run on this loop.
    package func sleep(milliseconds: Int64) async {
        await withCheckedContinuation { continuation in
            after(milliseconds: milliseconds) { continuation.resume() }
        }
    }

    /// Has the next turn begin at once, for a source that got work after it had acted in this one.
    package func turnAgain() { mayWait = false }

    /// Milliseconds of a clock that never goes back.
    package static func now() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Runs the ready jobs; for sources that have just made some ready.
    package func runJobs() {
        for _ in 0..<EventLoop.jobRoundsMax where !jobs.isEmpty {
            var round: [UnownedJob] = []
            swap(&round, &jobs)
            for job in round {
                unsafe job.runSynchronously(on: asUnownedTaskExecutor())
            }
        }
    }

    /// Turns until `stop`, on the calling thread, which becomes the loop's.
    package func run() {
        threadID.store(EventLoop.currentThreadID, ordering: .relaxed)
        isStopped = false
        while !isStopped { turn() }
        threadID.store(0, ordering: .relaxed)
    }

    /// Runs `body` as a task of this loop and turns until it has returned.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
        let result = Lock<Value?>(nil)
        task {
            let value = await body()
            result.withLock { $0 = value }
            self.stop()
        }
        run()
        guard let value = result.withLock({ $0 }) else {
            preconditionFailure("the loop was stopped before its task had finished")
        }
        return value
    }

    /// Ends `run` after the present turn. Only on the loop's thread.
    package func stop() {
        isStopped = true
    }

    private func turn() {
        takeInbox()
        runJobs()
        fireTimers()
        mayWait = true
        var timeout: Int32 = -1
        for source in sources { timeout = EventLoop.sooner(timeout, source.turn()) }
        runJobs()
        while !deferred.isEmpty {
            var round: [() -> Void] = []
            swap(&round, &deferred)
            for body in round { body() }
        }
        // Asked for last, because everything above may have added a timer.
        timeout = EventLoop.sooner(timeout, timers.milliseconds(from: EventLoop.now()))
        if !jobs.isEmpty || isStopped || !mayWait { timeout = 0 }
        wait(milliseconds: timeout)
    }

    private func fireTimers() {
        // One at a time, since a timer may cancel the next; and against one instant, so that
        // timers that set themselves again can't hold the loop here.
        let now = EventLoop.now()
        while let body = timers.takeFirstDue(at: now) { body() }
    }

    /// The shorter of two waits, where a negative one has no end.
    private static func sooner(_ one: Int32, _ other: Int32) -> Int32 {
        if one < 0 { return other }
        return other < 0 ? one : min(one, other)
    }

    private func takeInbox() {
        inbox.withLock { inbox in
            jobs.append(contentsOf: inbox)
            inbox.removeAll(keepingCapacity: true)
        }
    }

    private func wait(milliseconds: Int32) {
        unsafe withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: EventLoop.eventsMax) {
            events in
            let count = unsafe epoll_wait(
                epoll, events.baseAddress, Int32(EventLoop.eventsMax), milliseconds)
            for index in 0..<max(0, Int(count)) {
                let descriptor = unsafe events[index].data.fd
                if descriptor == wakeup {
                    var count: UInt64 = 0
                    _ = unsafe read(wakeup, &count, 8)
                } else {
                    // A handler before this one may have removed it.
                    handlers[descriptor]?(unsafe Readiness(rawValue: events[index].events))
                }
            }
        }
    }

    private func wake() {
        var one: UInt64 = 1
        _ = unsafe write(wakeup, &one, 8)
    }

    private func control(_ operation: Int32, _ descriptor: Int32, _ interest: Readiness) {
        var event = unsafe epoll_event()
        unsafe event.events = interest.rawValue
        unsafe event.data.fd = descriptor
        _ = unsafe epoll_ctl(epoll, operation, descriptor, &event)
    }

    private static var currentThreadID: UInt { UInt(pthread_self()) }
}

/// What a socket is ready for, or is waited for.
package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let readable = Readiness(rawValue: EPOLLIN.rawValue)
    package static let writable = Readiness(rawValue: EPOLLOUT.rawValue)
    package static let failed = Readiness(rawValue: EPOLLERR.rawValue | EPOLLHUP.rawValue)
}

/// Something that acts in every turn of a loop, before it waits.
package protocol LoopSource: AnyObject {
    /// Acts, and returns how many milliseconds the loop may wait at most; −1 for as long as it
    /// likes.
    func turn() -> Int32
}
