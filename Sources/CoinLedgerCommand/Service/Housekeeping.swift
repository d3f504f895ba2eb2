import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import Telemetry

/// What a service does by itself now and then: records expired coins, and forgets old answers and
/// notifications.
final class Housekeeping: Sendable {
    private let task: Task<Void, Never>

    private static let pauseMilliseconds: Int64 = 60_000
    /// How often a pause looks whether it's over.
    private static let tickMilliseconds: Int64 = 200
    private static let answersAtOnce = 10_000
    private static let notificationsAtOnce = 1000

    /// Starts, on the loop of the ledger's writers.
    init(
        _ ledger: Ledger, _ notifications: any NotificationStore, answerDays: Int64,
        notificationDays: Int64, on loop: EventLoop, log: Log
    ) {
        let expiry = ExpiryRecorder(ledger: ledger, clock: SystemClock.now, log: log)
        task = loop.task {
            while !Task.isCancelled {
                do throws(WriterError) {
                    _ = try await expiry.run()
                    try await Housekeeping.forgetAnswers(ledger.store, answerDays)
                    try await Housekeeping.forgetNotifications(notifications, notificationDays)
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

    private static func forgetAnswers(
        _ store: any EventStore, _ days: Int64
    ) async throws(WriterError) {
        guard let time = instant(daysAgo: days) else { return }
        do throws(EventStoreError) {
            while try await store.forgetAnswers(recordedBefore: time, limit: answersAtOnce)
                == answersAtOnce, !Task.isCancelled
            {}
        } catch {
            throw .unavailable
        }
    }

    private static func forgetNotifications(
        _ store: any NotificationStore, _ days: Int64
    ) async throws(WriterError) {
        guard let time = instant(daysAgo: days) else { return }
        do throws(EventStoreError) {
            while try await store.forgetNotifications(
                doneBefore: time, limit: notificationsAtOnce) == notificationsAtOnce,
                !Task.isCancelled
            {}
        } catch {
            throw .unavailable
        }
    }

    private static func instant(daysAgo days: Int64) -> Timestamp? {
        Timestamp(milliseconds: SystemClock.now().milliseconds - days * 86_400_000)
    }
}
