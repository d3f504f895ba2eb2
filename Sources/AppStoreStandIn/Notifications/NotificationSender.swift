import AppStoreConnection
import Base
import EventLoop

/// Sends the notifications that are due, with libcurl, and notes how it went.
final class NotificationSender: Sendable {
    private let notifications: StandInNotifications
    private let http: HTTPClient
    private let loop: EventLoop
    /// Milliseconds since 1970.
    private let now: @Sendable () -> Int64
    private let timer = Lock(NextTurn())

    private struct NextTurn {
        var timer: TimerID?
        var isStopped = false
    }

    /// How long Apple waits isn't documented.
    private static let attemptMilliseconds: Int64 = 10_000
    /// An answer's body means nothing.
    private static let bodyBytesMax = 1 << 20
    /// So long a timer waits at most; then it looks again.
    private static let waitMillisecondsMax: Int64 = 86_400_000

    init(
        _ notifications: StandInNotifications, loop: EventLoop,
        now: @escaping @Sendable () -> Int64
    ) {
        self.notifications = notifications
        self.loop = loop
        self.now = now
        var limits = HTTPClientLimits()
        limits.requestsMax =
            NotificationOutbox.sendingMax * (1 + Int(NotificationFault.copiesMax))
        limits.connectionsMax = NotificationOutbox.sendingMax
        limits.bodyBytesMax = NotificationSender.bodyBytesMax
        http = HTTPClient(limits: limits)
    }

    func start() {
        notifications.setWake { [weak self, loop] in loop.task { [weak self] in self?.turn() } }
        loop.task { [weak self] in self?.turn() }
    }

    /// What is under way fails. On the loop's thread.
    func stop() {
        notifications.setWake(nil)
        timer.withLock { $0.isStopped = true }
        cancelTimer()
        http.stop()
    }

    private func turn() {
        guard !timer.withLock({ $0.isStopped }) else { return }
        let (deliveries, wait) = notifications.takeDue()
        for delivery in deliveries { loop.task { await self.send(delivery) } }
        cancelTimer()
        guard let wait else { return }
        let next = loop.after(milliseconds: min(wait, NotificationSender.waitMillisecondsMax)) {
            [weak self] in
            self?.turn()
        }
        timer.withLock { $0.timer = next }
    }

    private func cancelTimer() {
        if let timer = timer.withLock({ $0.timer.take() }) { loop.cancel(timer) }
    }

    private func send(_ delivery: StandInNotifications.Delivery) async {
        let date = now()
        let result = await attempt(delivery)
        notifications.finish(delivery, SendAttempt(date: date, result: result))
        turn()
    }

    private func attempt(
        _ delivery: StandInNotifications.Delivery
    ) async -> SendAttemptResult {
        guard let url = delivery.url, delivery.fault != .lose else { return .noResponse }
        let request = HTTPClientRequest(
            method: "POST", url: url,
            headers: [(name: "Content-Type", value: "application/json")],
            body: delivery.notification.notification.body.bytes,
            timeoutMilliseconds: NotificationSender.attemptMilliseconds)
        let copies = (0..<delivery.copies).map { _ in loop.task { await self.post(request) } }
        let result = await post(request)
        for copy in copies { _ = await copy.value }
        return delivery.fault == .loseAnswer ? .timedOut : result
    }

    private func post(_ request: HTTPClientRequest) async -> SendAttemptResult {
        do throws(HTTPClientError) {
            let status = try await http.send(request).status
            return (200...206).contains(status) ? .success : .unsuccessfulStatus
        } catch {
            return SendAttemptResult(error)
        }
    }
}

extension SendAttemptResult {
    fileprivate init(_ error: HTTPClientError) {
        switch error {
        case .notConnected: self = .socketIssue
        case .notTrusted: self = .tlsIssue
        case .timedOut: self = .timedOut
        case .interrupted: self = .prematureClose
        case .bodyTooLarge: self = .invalidResponse
        case .tooManyRequests, .invalidRequest, .stopped: self = .other
        }
    }
}
