public import Glibc

/// A value behind a mutex.
///
/// `Synchronization.Mutex` is a futex that the thread sanitizer can't see on Linux, so that it
/// reports races where there are none; this one is a `pthread_mutex_t`, which it understands.
///
/// Public and inlinable, since generic code is compiled for other modules' types only if it is.
@safe public final class Lock<Value>: @unchecked Sendable {
    // Sendable, because `value` is touched only between lock and unlock.
    @usableFromInline var value: Value
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>

    public init(_ value: sending Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Runs `body` with the value locked. `body` must not wait for anything.
    @inlinable public func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
