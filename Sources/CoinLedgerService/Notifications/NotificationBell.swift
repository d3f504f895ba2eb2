import Base

/// Wakes whoever works on notifications when there may be something to do. Any thread may ring it.
package final class NotificationBell: Sendable {
    private struct State {
        var isRung = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Lock(State())

    package init() {}

    /// Wakes the one that waits, or else the next one that would.
    package func ring() {
        let waiter = state.withLock { state in
            let waiter = state.waiter
            state.waiter = nil
            state.isRung = waiter == nil
            return waiter
        }
        waiter?.resume()
    }

    /// Returns once the bell has been rung since this returned last. For one at a time.
    package func wait() async {
        await withCheckedContinuation { continuation in
            let isRung = state.withLock { state in
                precondition(state.waiter == nil, "one waits for a bell at a time")
                let isRung = state.isRung
                state.isRung = false
                if !isRung { state.waiter = continuation }
                return isRung
            }
            if isRung { continuation.resume() }
        }
    }
}
