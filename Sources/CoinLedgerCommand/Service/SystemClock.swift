import CoinLedger
import Glibc

/// The time of day.
enum SystemClock {
    @Sendable static func now() -> Timestamp {
        var instant = timespec()
        clock_gettime(CLOCK_REALTIME, &instant)
        let milliseconds = Int64(instant.tv_sec) * 1000 + Int64(instant.tv_nsec) / 1_000_000
        guard let timestamp = Timestamp(milliseconds: milliseconds) else {
            preconditionFailure("the system's clock is outside the years 1 to 9999")
        }
        return timestamp
    }
}
