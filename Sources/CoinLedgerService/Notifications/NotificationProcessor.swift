package import CoinLedger
package import EventStore
package import Telemetry

/// Works on the notifications that are due: those of different transactions at the same time, those of
/// one transaction in the order in which they were signed.
///
/// Several of them, in one process or in many, may work on one queue. A notification that is taken up
/// by one is left alone by the others for `leaseMilliseconds`; if the process dies, it's due again then.
package actor NotificationProcessor {
    private let store: any NotificationStore
    private let actions: NotificationActions
    private let bell: NotificationBell
    private let executor: any TaskExecutor
    private let clock: @Sendable () -> Timestamp
    private let telemetry: NotificationTelemetry
    private let log: Log

    /// By what they are about; each is worked on by a task.
    private var waiting: [String: [KeptNotification]] = [:]
    private var underWay: Set<NotificationID> = []
    private var isStopped = false
    /// Whether the last claim left something, as far as is known.
    private var mayBeMore = false
    private var idle: [CheckedContinuation<Void, Never>] = []

    /// Notifications that are taken up and not finished.
    package static let underWayMax = 64
    /// With less room it's not worth asking for more.
    package static let roomMin = 16
    package static let leaseMilliseconds: Int64 = 15_000
    /// After so many attempts, a notification is dead until somebody has it tried again.
    package static let attemptsMax: Int64 = 12
    package static let backoffMillisecondsMin: Int64 = 1000
    package static let backoffMillisecondsMax: Int64 = 3_600_000

    /// - Parameters:
    ///   - bell: is rung when there is room for more.
    ///   - executor: what the work runs on; the writers' loop.
    package init(
        store: any NotificationStore, actions: NotificationActions, bell: NotificationBell,
        executor: any TaskExecutor, clock: @escaping @Sendable () -> Timestamp,
        telemetry: NotificationTelemetry, log: Log
    ) {
        self.store = store
        self.actions = actions
        self.bell = bell
        self.executor = executor
        self.clock = clock
        self.telemetry = telemetry
        self.log = log
    }

    /// Takes up what is due, as far as there is room, and has it worked on. Answers how many it were.
    ///
    /// One call at a time.
    @discardableResult
    package func takeUp() async -> Int {
        let room = NotificationProcessor.underWayMax - underWay.count
        guard !isStopped else { return 0 }
        mayBeMore = true
        guard room >= NotificationProcessor.roomMin else { return 0 }
        let now = clock()
        let claimed: [KeptNotification]
        do throws(EventStoreError) {
            claimed = try await store.claimNotifications(
                due: now, leaseEnd: now.adding(NotificationProcessor.leaseMilliseconds),
                limit: room)
        } catch {
            log.warning("notifications wait", ["error": "\(error)"])
            return 0
        }
        mayBeMore = claimed.count == room
        for kept in claimed { add(kept) }
        return claimed.count
    }

    /// Returns when nothing is under way.
    package func finish() async {
        guard !underWay.isEmpty else { return }
        await withCheckedContinuation { idle.append($0) }
    }

    /// Takes nothing up any more. What waits for its turn is left to others.
    package func stop() { isStopped = true }

    /// What is still under way after its lease has ended is claimed again, and stays under way.
    private func add(_ kept: KeptNotification) {
        guard underWay.insert(kept.id).inserted else { return }
        let subject = kept.subject
        if var queue = waiting[subject] {
            let index = queue.firstIndex { kept.received.signedAt < $0.received.signedAt }
            queue.insert(kept, at: index ?? queue.endIndex)
            waiting[subject] = queue
            return
        }
        waiting[subject] = [kept]
        Task(executorPreference: executor) { await self.work(on: subject) }
    }

    private func work(on subject: String) async {
        while let next = waiting[subject]?.first {
            waiting[subject]?.removeFirst()
            if !isStopped { await handle(next) }
            underWay.remove(next.id)
            let room = NotificationProcessor.underWayMax - underWay.count
            if mayBeMore, room >= NotificationProcessor.roomMin { bell.ring() }
        }
        waiting[subject] = nil
        guard underWay.isEmpty else { return }
        for waiter in idle { waiter.resume() }
        idle = []
    }

    private func handle(_ kept: KeptNotification) async {
        let hasDeadline = NotificationActions.hasDeadline(kept)
        var decision: NotificationDecision
        if kept.attempts > NotificationProcessor.attemptsMax, !hasDeadline {
            // Each of its attempts has ended with the process.
            decision = .dead("attempts_exhausted")
        } else {
            decision = await actions.act(on: kept)
        }
        if case .retry(let reason) = decision, kept.attempts >= NotificationProcessor.attemptsMax {
            decision = .dead(reason)
        }
        do throws(EventStoreError) {
            try await settle(kept, decision)
        } catch {
            // Its lease ends, and it's taken up again.
            log.error(
                "notification not settled", ["notification.id": kept.id, "error": "\(error)"])
        }
    }

    private func settle(
        _ kept: KeptNotification, _ decision: NotificationDecision
    ) async throws(EventStoreError) {
        let now = clock()
        switch decision {
        case .end(let ending):
            try await store.end(kept.id, ending, at: now)
            note(kept, ending.state, ending.outcome, now)
        case .unclaimed:
            guard try await store.endUnclaimed(kept.id, at: now) else { return bell.ring() }
            note(kept, .done, NotificationEnding.unclaimed, now)
        case .retry(let reason):
            let pause = NotificationProcessor.backoffMilliseconds(afterAttempt: kept.attempts)
            try await postpone(kept, until: now.adding(pause), reason)
        case .postpone(let time, let reason): try await postpone(kept, until: time, reason)
        }
    }

    private func postpone(
        _ kept: KeptNotification, until time: Timestamp, _ reason: String
    ) async throws(EventStoreError) {
        telemetry.retries.increment(reason)
        log.warning(
            "notification put off",
            ["notification.id": kept.id, "reason": reason, "attempts": kept.attempts])
        try await store.postpone(kept.id, until: time, detail: nil)
    }

    private func note(
        _ kept: KeptNotification, _ state: NotificationState, _ outcome: String, _ now: Timestamp
    ) {
        telemetry.outcomes.increment(kept.received.type, state.rawValue, outcome)
        let milliseconds = now.milliseconds - kept.received.receivedAt.milliseconds
        telemetry.seconds.observe(value: Double(milliseconds) / 1000)
        let fields: Log.Fields = [
            "notification.id": kept.id, "notification.type": kept.received.type,
            "notification.outcome": outcome,
            "transaction.id": kept.received.transaction?.id.text ?? "",
        ]
        if state == .dead {
            log.error("notification dead", fields)
        } else {
            log.info("notification done", fields)
        }
    }

    /// 1 s after the first attempt, twice as long after each further one, up to an hour.
    static func backoffMilliseconds(afterAttempt attempt: Int64) -> Int64 {
        let doublings = min(max(0, attempt - 1), 20)
        return min(backoffMillisecondsMin << doublings, backoffMillisecondsMax)
    }
}

extension KeptNotification {
    /// Notifications of one subject are worked on one after the other.
    fileprivate var subject: String {
        guard let transaction = received.transaction else { return id.text }
        return "\(received.environment.rawValue) \(transaction.originalID)"
    }
}

extension Timestamp {
    /// The last instant there is, if it would be later.
    package func adding(_ milliseconds: Int64) -> Timestamp {
        Timestamp(milliseconds: self.milliseconds + milliseconds) ?? self
    }
}
