/// Time and chance for waits between attempts, so that tests need neither.
package struct RetryClock: Sendable {
    /// Milliseconds of a clock that never goes back.
    package var now: @Sendable () -> Int64
    /// Suspends for so many milliseconds. It needs no event loop, and may end early.
    package var sleep: @Sendable (_ milliseconds: Int64) async -> Void
    /// A number of the range, any as likely as the next.
    package var random: @Sendable (ClosedRange<Int64>) -> Int64

    package init(
        now: @escaping @Sendable () -> Int64,
        sleep: @escaping @Sendable (_ milliseconds: Int64) async -> Void,
        random: @escaping @Sendable (ClosedRange<Int64>) -> Int64
    ) {
        self.now = now
        self.sleep = sleep
        self.random = random
    }

    /// Real time and chance.
    package static let system: RetryClock = {
        let start = ContinuousClock.now
        return RetryClock(
            now: { Int64((ContinuousClock.now - start) / .milliseconds(1)) },
            // Ends early only if the task is cancelled, and then waiting is of no use.
            sleep: { try? await Task.sleep(for: .milliseconds($0)) },
            random: { .random(in: $0) })
    }()
}
