/// The clock of the notifications' schedule, which may run faster than time does.
///
/// Only waits are shortened. The instants that are written down are those of real time, since
/// nobody trusts what was signed in the future.
struct ScheduleClock: Sendable {
    /// Of real time, and what the schedule's clock showed then: in milliseconds.
    private var start: Int64
    private var shown: Int64 = 0
    private(set) var rate: Int64 = 1

    /// 72 hours in 3 ms.
    static let rateMax: Int64 = 100_000_000

    init(now: Int64) { start = now }

    func reading(at now: Int64) -> Int64 {
        let (passed, overflow) = max(0, now - start).multipliedReportingOverflow(by: rate)
        return overflow ? .max / 2 : shown + passed
    }

    mutating func setRate(_ rate: Int64, at now: Int64) {
        shown = reading(at: now)
        start = now
        self.rate = rate
    }

    /// Real milliseconds from `now` until the clock shows `due`.
    func wait(until due: Int64, from now: Int64) -> Int64 {
        let left = max(0, due - reading(at: now))
        return left / rate + (left % rate == 0 ? 0 : 1)
    }
}
