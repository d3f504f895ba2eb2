import CLinux
import Glibc

/// Something that happens once, and that any thread may wait for with a limit.
final class Latch: Sendable {
    private let descriptor: Int32

    init() {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC))
        precondition(descriptor >= 0, "the system has no descriptor left for a latch")
    }

    deinit { close(descriptor) }

    func open() {
        var one: UInt64 = 1
        _ = unsafe write(descriptor, &one, 8)
    }

    /// Waits until `open` was called; false if `seconds` have passed before. Nil waits for ever.
    func wait(seconds: Double?) -> Bool {
        Descriptor.waitReadable(descriptor, until: seconds.map(Clock.after))
    }
}

/// Points in time of a clock that never goes back, in milliseconds.
enum Clock {
    static func now() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    static func after(seconds: Double) -> Int64 {
        now() + Int64(max(0, min(seconds, 1_000_000)) * 1000)
    }

    /// Asks `isDone` every few milliseconds; false if it wasn't true before `deadline`.
    static func poll<Failure: Error>(
        until deadline: Int64, _ isDone: () throws(Failure) -> Bool
    ) throws(Failure) -> Bool {
        while try !isDone() {
            if now() >= deadline { return false }
            usleep(5_000)
        }
        return true
    }
}

enum Descriptor {
    /// Waits until `descriptor` can be read or was closed by the other side; false at `deadline`.
    static func waitReadable(_ descriptor: Int32, until deadline: Int64?) -> Bool {
        while true {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            var limit: Int32 = -1
            if let deadline { limit = Int32(clamping: max(0, deadline - Clock.now())) }
            let count = unsafe Glibc.poll(&entry, 1, limit)
            if count > 0 { return true }
            if count == 0 { return false }
            // Interrupted by a signal: go on with what is left of the time.
        }
    }
}
