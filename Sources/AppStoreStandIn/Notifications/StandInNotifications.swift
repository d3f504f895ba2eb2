import Base

/// The notifications of a stand-in: where they go, what goes wrong with them, and what became of
/// each.
///
/// Nothing is kept of a notification for which there's no target, as with Apple. They are sent as
/// long as a `StandInServer` runs.
package final class StandInNotifications: Sendable {
    private struct State: Sendable {
        /// URLs by environment.
        var targets: [String: String] = [:]
        var outbox = NotificationOutbox()
        var faults = NotificationFaults()
        var clock: ScheduleClock
        /// Called after something is to be sent.
        var wake: (@Sendable () -> Void)?
        var idleWaiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Lock<State>
    /// Milliseconds of a clock that never goes back.
    private let monotonic: @Sendable () -> Int64

    /// How long one is held back at most if too few others come.
    package static let heldMillisecondsMax: Int64 = 60_000

    init(monotonic: @escaping @Sendable () -> Int64) {
        self.monotonic = monotonic
        state = Lock(State(clock: ScheduleClock(now: monotonic())))
    }

    /// Has all notifications of an environment sent to `url` from now on, or none if it's nil.
    ///
    /// - Parameter environment: Apple's spelling of one of the two stores; both if nil.
    package func setTarget(_ url: String?, environment: String? = nil) {
        let environments = environment.map { [$0] } ?? [StoreName.production, StoreName.sandbox]
        state.withLock { state in
            for environment in environments { state.targets[environment] = url }
        }
    }

    package func target(_ environment: String) -> String? {
        state.withLock { $0.targets[environment] }
    }

    /// How much faster than time the schedule's clock runs: 1 to 100,000,000.
    package var clockRate: Int64 { state.withLock { $0.clock.rate } }

    package func setClockRate(_ rate: Int64) {
        precondition((1...ScheduleClock.rateMax).contains(rate), "no such clock")
        let now = monotonic()
        state.withLock { $0.clock.setRate(rate, at: now) }
        wake()
    }

    /// Has notifications go wrong; false if too many faults are still to come.
    @discardableResult
    package func add(_ fault: NotificationFault) -> Bool {
        state.withLock { $0.faults.add(fault) }
    }

    /// Takes all faults back, and lets go of what is held back.
    package func removeFaults() {
        let now = monotonic()
        state.withLock { state in
            state.faults.removeAll()
            state.outbox.releaseAll(at: state.clock.reading(at: now))
        }
        wake()
    }

    package var pendingFaults: Int { state.withLock { $0.faults.count } }

    /// Sends a notification once more, now; false if it's unknown or under way.
    package func resend(_ uuid: String) -> Bool {
        let now = monotonic()
        let isFound = state.withLock { state in
            state.outbox.resend(uuid, at: state.clock.reading(at: now))
        }
        if isFound { wake() }
        return isFound
    }

    /// Those that `isWanted`, after the one with this ordinal, in the order of their making.
    package func list(
        after ordinal: Int = -1, limit: Int = .max,
        where isWanted: (SentNotification) -> Bool = { _ in true }
    ) -> [SentNotification] {
        state.withLock { $0.outbox.list(after: ordinal, limit: limit, where: isWanted) }
    }

    /// Whether everything was delivered or given up.
    package var isIdle: Bool { state.withLock { $0.outbox.isIdle } }

    /// Suspends until everything was delivered or given up.
    package func waitUntilIdle() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if !state.outbox.isIdle { state.idleWaiters.append(continuation) }
                return state.outbox.isIdle
            }
            if isIdle { continuation.resume() }
        }
    }

    /// Whether one more could be sent, if there is a target at all.
    var hasRoom: Bool { state.withLock { $0.targets.isEmpty || $0.outbox.hasRoom } }

    /// Gives a notification that will be sent what is wrong with its signatures, if anything.
    func applyFaults(to notification: inout StandInNotification) {
        let type = notification.type
        let (outer, inner) = state.withLock { state in
            (state.faults.take(.outer, type), state.faults.take(.inner, type))
        }
        if case .outer(let fault) = outer { notification.fault = fault }
        if case .inner(let fault) = inner { notification.innerFault = fault }
    }

    /// Sends a notification; false if there's no room for it.
    @discardableResult
    func send(_ notification: SignedNotification, testToken: String? = nil) -> Bool {
        let now = monotonic()
        let isAdded = state.withLock { state in
            var copies = 0
            var behind = 0
            if case .duplicate(let count) = state.faults.take(.duplicate, notification.type) {
                copies = count
            }
            if case .reorder(let count) = state.faults.take(.reorder, notification.type) {
                behind = count
            }
            let reading = state.clock.reading(at: now)
            return state.outbox.add(
                notification, testToken: testToken, copies: copies, behind: behind,
                heldUntil: reading + StandInNotifications.heldMillisecondsMax * state.clock.rate,
                due: reading)
        }
        if isAdded { wake() }
        return isAdded
    }

    /// What is to be done with a notification that is due.
    struct Delivery: Sendable {
        let notification: SentNotification
        /// Nil if the target was taken away.
        let url: String?
        let copies: Int
        let fault: NotificationFault.Effect?
    }

    /// What is due now, and how many milliseconds later something else will be.
    func takeDue() -> (deliveries: [Delivery], waitMilliseconds: Int64?) {
        let now = monotonic()
        return state.withLock { state in
            let deliveries = state.outbox.takeDue(at: state.clock.reading(at: now)).map { due in
                Delivery(
                    notification: due.notification,
                    url: state.targets[due.notification.notification.environment],
                    copies: due.copies,
                    fault: state.faults.take(.attempt, due.notification.notification.type))
            }
            let wait = state.outbox.nextDue().map { state.clock.wait(until: $0, from: now) }
            return (deliveries, wait)
        }
    }

    func finish(_ delivery: Delivery, _ attempt: SendAttempt) {
        let now = monotonic()
        let waiters = state.withLock { state in
            state.outbox.finish(
                delivery.notification.ordinal, attempt, at: state.clock.reading(at: now))
            guard state.outbox.isIdle else { return [] as [CheckedContinuation<Void, Never>] }
            defer { state.idleWaiters = [] }
            return state.idleWaiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func setWake(_ wake: (@Sendable () -> Void)?) { state.withLock { $0.wake = wake } }

    private func wake() { state.withLock { $0.wake }?() }
}
