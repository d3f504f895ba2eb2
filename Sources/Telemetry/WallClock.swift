import Glibc

/// The time of day, for log lines.
enum WallClock {
    /// Now, as RFC 3339 in UTC with milliseconds.
    static func now() -> String {
        var instant = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &instant)
        var fields = unsafe tm()
        unsafe gmtime_r(&instant.tv_sec, &fields)
        func padded(_ value: Int, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let date = unsafe [
            padded(Int(fields.tm_year) + 1900, 4), padded(Int(fields.tm_mon) + 1, 2),
            padded(Int(fields.tm_mday), 2),
        ].joined(separator: "-")
        let time = unsafe [
            padded(Int(fields.tm_hour), 2), padded(Int(fields.tm_min), 2),
            padded(Int(fields.tm_sec), 2),
        ].joined(separator: ":")
        return "\(date)T\(time).\(padded(instant.tv_nsec / 1_000_000, 3))Z"
    }
}
