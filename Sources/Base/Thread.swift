import Glibc

/// Starts plain threads.
package enum Thread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs `body` on a new, detached thread, on which no signal is delivered.
    package static func start(_ body: @escaping @Sendable () -> Void) {
        var everySignal = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&everySignal)
        unsafe pthread_sigmask(SIG_BLOCK, &everySignal, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }

        var thread = pthread_t()
        let argument = unsafe Unmanaged.passRetained(Body(body)).toOpaque()
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
