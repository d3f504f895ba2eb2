import Glibc

/// A few threads for work that takes a core for longer than an event loop may be held.
///
/// The number of waiting jobs is bounded: beyond it `run` throws at once.
@safe package final class WorkerPool: @unchecked Sendable {
    // Sendable, because all mutable state is touched only with the mutex held.
    package struct QueueFull: Error {}

    private let jobsMax: Int
    private var jobs = Queue<@Sendable () -> Void>()
    private var isStopped = false
    private var idleThreads = 0
    /// Whether a thread was woken that hasn't looked for a job yet.
    private var isWaking = false
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    package init(threads: Int, jobsMax: Int) {
        self.jobsMax = jobsMax
        unsafe mutex = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        unsafe condition = .allocate(capacity: 1)
        unsafe pthread_cond_init(condition, nil)
        for _ in 0..<threads { Thread.start(.low) { self.work() } }
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe condition.deallocate()
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Runs `body` on one of the pool's threads and returns its value.
    ///
    /// - Throws: `QueueFull` if as many jobs wait as are allowed, or the pool was stopped.
    package func run<Value: Sendable>(
        _ body: @escaping @Sendable () -> Value
    ) async throws(QueueFull) -> Value {
        let value: Value? = await withCheckedContinuation { continuation in
            let accepted = submit { continuation.resume(returning: body()) }
            if !accepted { continuation.resume(returning: nil) }
        }
        guard let value else { throw QueueFull() }
        return value
    }

    /// Lets the threads end once the waiting jobs are done.
    package func stop() {
        unsafe pthread_mutex_lock(mutex)
        isStopped = true
        unsafe pthread_cond_broadcast(condition)
        unsafe pthread_mutex_unlock(mutex)
    }

    private func submit(_ job: @escaping @Sendable () -> Void) -> Bool {
        unsafe pthread_mutex_lock(mutex)
        guard !isStopped, jobs.count < jobsMax else {
            unsafe pthread_mutex_unlock(mutex)
            return false
        }
        jobs.append(job)
        unlockAndWake()
        return true
    }

    /// Wakes one thread if there is something to do for it. Waking is dear, and jobs come in bursts: so
    /// one at a time, and each wakes the next if that's still needed.
    private func unlockAndWake() {
        let mustWake = idleThreads > 0 && !isWaking && !jobs.isEmpty
        if mustWake { isWaking = true }
        unsafe pthread_mutex_unlock(mutex)
        // The mutex is free by now, so that nobody is woken only to wait for it.
        if mustWake { unsafe pthread_cond_signal(condition) }
    }

    private func work() {
        while let job = next() { job() }
    }

    private func next() -> (@Sendable () -> Void)? {
        unsafe pthread_mutex_lock(mutex)
        while true {
            if let job = jobs.takeFirst() {
                unlockAndWake()
                return job
            }
            if isStopped {
                unsafe pthread_mutex_unlock(mutex)
                return nil
            }
            idleThreads += 1
            unsafe pthread_cond_wait(condition, mutex)
            idleThreads -= 1
            isWaking = false
        }
    }
}
