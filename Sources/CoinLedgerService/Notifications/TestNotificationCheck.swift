package import AppStoreConnection
package import EventStore

/// Tries the whole way of a notification: has the store send one of the type `TEST`, and looks whether
/// it comes into the queue and is worked on, and whether the store is content with the answer.
package struct TestNotificationCheck: Sendable {
    package typealias Request = @Sendable () async throws(AppStoreServerError) -> String
    package typealias Status =
        @Sendable (_ token: String) async throws(AppStoreServerError) -> TestNotification
    package typealias Find =
        @Sendable (NotificationID) async throws(EventStoreError) -> KeptNotification?

    private let request: Request
    private let status: Status
    private let find: Find
    private let clock: RetryClock

    /// How often it's looked whether something has come.
    package static let pauseMilliseconds: Int64 = 250
    /// The store's codes for an app without a URL, and for a token that isn't known yet.
    private static let noURLCode: Int64 = 4_040_007
    private static let unknownTokenCode: Int64 = 4_040_008

    package init(
        request: @escaping Request, status: @escaping Status, find: @escaping Find,
        clock: RetryClock
    ) {
        self.request = request
        self.status = status
        self.find = find
        self.clock = clock
    }

    /// What was found out.
    package enum Verdict: Hashable, Sendable {
        /// It came, was worked on, and the store is content.
        case arrived(KeptNotification)
        /// App Store Connect has no URL for notifications of this environment.
        case noURL
        /// The store hasn't tried to send it in time.
        case notSent
        /// The store couldn't deliver it.
        case notDelivered(DeliveryAttempt)
        /// It came, but the store had no good answer.
        case badlyAnswered(DeliveryAttempt)
        /// The store says that it was delivered, but it isn't in this ledger.
        case elsewhere(NotificationID)
        /// It came, but nobody has worked on it.
        case notWorkedOn(NotificationID)
        /// It came, and the store hasn't said whether it's content.
        case unconfirmed(NotificationID)
        /// The store's word about it can't be read.
        case unreadable
    }

    package enum Failure: Error, Hashable {
        case store(AppStoreServerError)
        case ledger
    }

    /// - Parameter waitMilliseconds: for everything after the request.
    package func run(waitMilliseconds: Int64) async throws(Failure) -> Verdict {
        let token: String
        do throws(AppStoreServerError) {
            token = try await request()
        } catch .notFound(code: TestNotificationCheck.noURLCode) {
            return .noURL
        } catch {
            throw .store(error)
        }
        let deadline = clock.now() + waitMilliseconds
        var known = Known()
        while true {
            // Before the first look, too: the store needs a moment, and can't be asked often.
            await clock.sleep(TestNotificationCheck.pauseMilliseconds)
            if !known.isDelivered { try await ask(token, &known) }
            if known.isUnreadable { return .unreadable }
            if let id = known.id, known.kept?.endedAt == nil { known.kept = try await look(id) }
            if let verdict = known.verdict { return verdict }
            guard clock.now() < deadline else { return known.lastVerdict }
        }
    }

    private func ask(_ token: String, _ known: inout Known) async throws(Failure) {
        do throws(AppStoreServerError) {
            known.take(try await status(token))
        } catch .notFound(code: TestNotificationCheck.unknownTokenCode) {
            // It's made known with the first attempt.
        } catch {
            throw .store(error)
        }
    }

    private func look(_ id: NotificationID) async throws(Failure) -> KeptNotification? {
        do throws(EventStoreError) {
            return try await find(id)
        } catch {
            throw .ledger
        }
    }
}

/// What is known of a test notification so far.
private struct Known {
    var id: NotificationID?
    var isUnreadable = false
    var attempt: DeliveryAttempt?
    var kept: KeptNotification?

    var isDelivered: Bool { attempt?.result == DeliveryAttempt.success }

    mutating func take(_ test: TestNotification) {
        attempt = test.sendAttempts.max { $0.attemptedAt < $1.attemptedAt }
        guard id == nil, let payload = test.signedPayload else { return }
        id = NotificationClaim(signedPayload: payload).flatMap { NotificationID($0.uuid) }
        isUnreadable = id == nil
    }

    /// What won't change any more, however long one waits.
    var verdict: TestNotificationCheck.Verdict? {
        if isDelivered { return kept.flatMap { $0.endedAt == nil ? nil : .arrived($0) } }
        guard let attempt else { return nil }
        return kept == nil ? .notDelivered(attempt) : .badlyAnswered(attempt)
    }

    /// What it is if nothing more comes.
    var lastVerdict: TestNotificationCheck.Verdict {
        guard let id else { return .notSent }
        guard let kept else { return isDelivered ? .elsewhere(id) : .notSent }
        return kept.endedAt == nil ? .notWorkedOn(id) : .unconfirmed(id)
    }
}
