import AppStoreConnection
import Base
import CoinLedger
import CoinLedgerService
import EventStore
import Testing

@Suite struct `Following a test notification` {
    private let way = NotificationWay()

    @Test func `finds that it arrived`() async throws {
        way.knows(nil)
        way.knows(["SUCCESS"])
        way.keeps(nil)
        way.keeps(.pending)
        way.keeps(.done)
        guard case .arrived(let kept) = try await way.check().run(waitMilliseconds: 60_000) else {
            Issue.record("it didn't arrive")
            return
        }
        #expect(kept.id.text == NotificationWay.id)
        #expect(way.waited == 1000)
    }

    @Test func `isn't content with what was given up`() async throws {
        way.knows(["SUCCESS"])
        way.keeps(.dead)
        guard case .arrived(let kept) = try await way.check().run(waitMilliseconds: 60_000) else {
            Issue.record("it didn't arrive")
            return
        }
        #expect(kept.state == .dead)
    }

    @Test func `finds that nobody has said where to send it`() async throws {
        let way = NotificationWay(request: .failure(.notFound(code: 4_040_007)))
        #expect(try await way.check().run(waitMilliseconds: 1000) == .noURL)
    }

    @Test func `finds that the store hasn't sent it`() async throws {
        way.knows(nil)
        #expect(try await way.check().run(waitMilliseconds: 1000) == .notSent)
        #expect(way.waited == 1000)
    }

    @Test func `finds that the store couldn't deliver it`() async throws {
        way.knows([])
        way.knows(["TLS_ISSUE"])
        way.keeps(nil)
        #expect(
            try await way.check().run(waitMilliseconds: 60_000)
                == .notDelivered(DeliveryAttempt(attemptedAt: 0, result: "TLS_ISSUE")))
        #expect(way.waited == 500)
    }

    @Test func `finds that the answer was lost`() async throws {
        way.knows(["TIMED_OUT"])
        way.keeps(.done)
        #expect(
            try await way.check().run(waitMilliseconds: 60_000)
                == .badlyAnswered(DeliveryAttempt(attemptedAt: 0, result: "TIMED_OUT")))
    }

    @Test func `takes the latest attempt for the store's word`() async throws {
        way.knows(["SOCKET_ISSUE", "SUCCESS"])
        way.keeps(.done)
        guard case .arrived = try await way.check().run(waitMilliseconds: 60_000) else {
            Issue.record("it didn't arrive")
            return
        }
    }

    @Test func `finds that somebody else has got it`() async throws {
        way.knows(["SUCCESS"])
        way.keeps(nil)
        let id = try #require(NotificationID(NotificationWay.id))
        #expect(try await way.check().run(waitMilliseconds: 500) == .elsewhere(id))
    }

    @Test func `finds that nobody works on it`() async throws {
        way.knows(["SUCCESS"])
        way.keeps(.pending)
        let id = try #require(NotificationID(NotificationWay.id))
        #expect(try await way.check().run(waitMilliseconds: 500) == .notWorkedOn(id))
    }

    @Test func `finds that the store says nothing of its answer`() async throws {
        way.knows([])
        way.keeps(.done)
        let id = try #require(NotificationID(NotificationWay.id))
        #expect(try await way.check().run(waitMilliseconds: 500) == .unconfirmed(id))
    }

    @Test func `can't follow what it can't read`() async throws {
        way.knows(["SUCCESS"], payload: "a.b.c")
        #expect(try await way.check().run(waitMilliseconds: 500) == .unreadable)
    }

    @Test func `passes on what went wrong on the way`() async throws {
        let way = NotificationWay(request: .failure(.unauthorized))
        await #expect(throws: TestNotificationCheck.Failure.store(.unauthorized)) {
            _ = try await way.check().run(waitMilliseconds: 500)
        }
        self.way.knows(["SUCCESS"])
        self.way.losesLedger()
        await #expect(throws: TestNotificationCheck.Failure.ledger) {
            _ = try await self.way.check().run(waitMilliseconds: 500)
        }
    }
}

/// A store and a ledger that say what they were told to, the last of it again and again.
private final class NotificationWay: Sendable {
    private struct State {
        var statuses: [Result<TestNotification, AppStoreServerError>] = []
        var kept: [Result<NotificationState?, EventStoreError>] = []
        var now: Int64 = 0
    }

    private let state = Lock(State())
    private let request: Result<String, AppStoreServerError>

    static let id = "0a4b0a52-6c1b-4b6e-8f0e-6b8f5c1d2e3f"

    init(request: Result<String, AppStoreServerError> = .success("t")) { self.request = request }

    var waited: Int64 { state.withLock { $0.now } }

    /// - Parameter results: of the attempts so far; nil if the token isn't known yet.
    func knows(_ results: [String]?, payload: String = NotificationWay.payload) {
        let status: Result<TestNotification, AppStoreServerError> =
            results.map { results in
                let attempts = results.enumerated().map {
                    DeliveryAttempt(attemptedAt: Int64($0.offset), result: $0.element)
                }
                return .success(TestNotification(signedPayload: payload, sendAttempts: attempts))
            } ?? .failure(.notFound(code: 4_040_008))
        state.withLock { $0.statuses.append(status) }
    }

    func keeps(_ state: NotificationState?) {
        self.state.withLock { $0.kept.append(.success(state)) }
    }

    func losesLedger() { state.withLock { $0.kept.append(.failure(.unavailable("gone"))) } }

    func check() -> TestNotificationCheck {
        TestNotificationCheck(
            request: { () async throws(AppStoreServerError) in try self.request.get() },
            status: { (_) async throws(AppStoreServerError) in
                let status = self.state.withLock { state in
                    state.statuses.count > 1 ? state.statuses.removeFirst() : state.statuses[0]
                }
                return try status.get()
            },
            find: { (id) async throws(EventStoreError) in
                let kept = self.state.withLock { state in
                    state.kept.count > 1 ? state.kept.removeFirst() : state.kept[0]
                }
                return try kept.get().flatMap { NotificationWay.kept(id, $0) }
            },
            clock: RetryClock(
                now: { self.state.withLock { $0.now } },
                sleep: { milliseconds in self.state.withLock { $0.now += milliseconds } },
                random: { $0.lowerBound }))
    }

    static let payload: String = {
        let payload: JSON = [
            "notificationType": "TEST", "version": "2.0", "notificationUUID": .string(id),
            "signedDate": 1_796_049_240_000,
            "data": ["bundleId": "com.nonchalant", "environment": "Sandbox"],
        ]
        return "a.\(Base64.encode(payload.bytes, .url)).c"
    }()

    private static func kept(
        _ id: NotificationID, _ state: NotificationState
    ) -> KeptNotification? {
        guard let instant = Timestamp(milliseconds: 1_796_049_240_000) else { return nil }
        let received = ReceivedNotification(
            id: id, environment: .sandbox, type: "TEST", subtype: nil, signedAt: instant,
            receivedAt: instant, transaction: nil, signedPayload: [])
        let hasEnded = state != .pending
        return KeptNotification(
            number: 1, received: received, state: state, attempts: 1, nextAttemptAt: instant,
            outcome: hasEnded ? "recorded" : nil, detail: nil, endedAt: hasEnded ? instant : nil)
    }
}
