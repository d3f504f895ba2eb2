import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import Telemetry

/// What a service does by itself now and then: records expired coins, and forgets old answers,
/// attempts and notifications.
final class Housekeeping: Sendable {
    private let task: Task<Void, Never>

    private static let pauseMilliseconds: Int64 = 60_000
    /// How often a pause looks whether it's over.
    private static let tickMilliseconds: Int64 = 200
    private static let rowsAtOnce = 10_000
    /// Fewer, since each has a long payload.
    private static let notificationsAtOnce = 1000

    /// For how many days things are kept that are forgotten one day.
    struct Keeping: Sendable {
        let answerDays: Int64
        let attemptDays: Int64
        let notificationDays: Int64
    }

    /// Starts, on the loop of the ledger's writers.
    init(
        _ ledger: Ledger, _ store: any AttemptStore & NotificationStore, keeping: Keeping,
        on loop: EventLoop, log: Log
    ) {
        let expiry = ExpiryRecorder(ledger: ledger, clock: SystemClock.now, log: log)
        task = loop.task {
            while !Task.isCancelled {
                do throws(WriterError) {
                    _ = try await expiry.run()
                    try await Housekeeping.forget(ledger.store, store, keeping)
                } catch {
                    log.warning("housekeeping waits", ["error": "\(error)"])
                }
                await Housekeeping.pause(on: loop)
            }
        }
    }

    func stop() async {
        task.cancel()
        await task.value
    }

    private static func pause(on loop: EventLoop) async {
        for _ in 0..<(pauseMilliseconds / tickMilliseconds) where !Task.isCancelled {
            await loop.sleep(milliseconds: tickMilliseconds)
        }
    }

    private static func forget(
        _ ledger: any EventStore, _ store: any AttemptStore & NotificationStore,
        _ keeping: Keeping
    ) async throws(WriterError) {
        try await forget(keeping.answerDays, rowsAtOnce) {
            (time, limit) async throws(EventStoreError) in
            try await ledger.forgetAnswers(recordedBefore: time, limit: limit)
        }
        try await forget(keeping.attemptDays, rowsAtOnce) {
            (time, limit) async throws(EventStoreError) in
            try await store.forgetAttempts(before: time, limit: limit)
        }
        try await forget(keeping.notificationDays, notificationsAtOnce) {
            (time, limit) async throws(EventStoreError) in
            try await store.forgetNotifications(doneBefore: time, limit: limit)
        }
    }

    /// - Parameter part: forgets so many things from before an instant, and tells how many it were.
    private static func forget(
        _ days: Int64, _ limit: Int,
        _ part: (Timestamp, Int) async throws(EventStoreError) -> Int
    ) async throws(WriterError) {
        let now = SystemClock.now()
        guard let time = Timestamp(milliseconds: now.milliseconds - days * 86_400_000) else {
            return
        }
        do throws(EventStoreError) {
            while try await part(time, limit) == limit, !Task.isCancelled {}
        } catch {
            throw .unavailable
        }
    }
}
