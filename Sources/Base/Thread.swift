import Glibc

/// Starts plain threads.
package enum Thread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// How much of the processor a thread gets when others want it too.
    package enum Priority: Int32, Sendable {
        case normal = 0
        /// For work that somebody waits for, but that must not hold up the thread that hands it out.
        case low = 5
        /// For what nobody waits for.
        case background = 10
    }

    /// Runs `body` on a new, detached thread, on which no signal is delivered.
    package static func start(
        _ priority: Priority = .normal, _ body: @escaping @Sendable () -> Void
    ) {
        let prioritized: @Sendable () -> Void = {
            // Zero is the calling thread: the nice value is each thread's own on Linux.
            if priority != .normal {
                setpriority(Int32(PRIO_PROCESS.rawValue), 0, priority.rawValue)
            }
            body()
        }
        var everySignal = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&everySignal)
        unsafe pthread_sigmask(SIG_BLOCK, &everySignal, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }

        var thread = pthread_t()
        let argument = unsafe Unmanaged.passRetained(Body(prioritized)).toOpaque()
        let failure = unsafe pthread_create(
            &thread, nil,
            { argument in
                if let argument = unsafe argument {
                    // Retained above, for this one use.
                    unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                }
                return nil
            }, argument)
        precondition(failure == 0, "the system has no room for one more thread")
        pthread_detach(thread)
    }
}
