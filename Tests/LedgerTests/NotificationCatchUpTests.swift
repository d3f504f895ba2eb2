import AppStore
import AppStoreConnection
import Base
import CoinLedger
import CoinLedgerService
import Testing

@Suite struct `Catching up with the store's notifications` {
    private let store = SentNotifications()

    private func instant(_ text: String) throws -> Timestamp { try #require(Timestamp(text)) }

    @Test func `takes them in by the order of their signing`() async throws {
        let since = try instant("2026-11-26T00:00:00Z")
        let until = try instant("2026-11-30T12:00:00Z")
        for hour in [50, 3, 107, 26, 27, 2] as [Int64] {
            store.add(since.adding(hour * 3_600_000), "n\(hour)")
        }
        // Outside.
        store.add(since.adding(-1), "early")
        store.add(until.adding(1), "late")
        let totals = try await store.catchUp().run(
            since: since, until: until, onlyFailures: true, report: store.report)
        #expect(store.taken == ["n2", "n3", "n26", "n27", "n50", "n107"])
        #expect(totals.accepted == 6)
        // A day at a time, each from the last instant of the one before.
        #expect(store.queries.count == 5)
        #expect(store.queries.allSatisfy { $0.onlyFailures })
        #expect(store.queries[0].startDate == since.milliseconds)
        #expect(store.queries[0].endDate == store.queries[1].startDate)
        #expect(store.queries[4].endDate == until.milliseconds)
    }

    @Test func `reports each, and counts them`() async throws {
        let since = try instant("2026-11-26T00:00:00Z")
        store.add(since.adding(1), "a")
        store.add(since.adding(2), "b", .success(.duplicate))
        store.add(since.adding(3), "c", .success(.ignored))
        store.add(since.adding(4), "d", .failure(.untrusted(.transactionMismatch)))
        store.addUnreadable("e", .failure(.untrusted(.notification(.malformed))), at: since)
        let totals = try await store.catchUp().run(
            since: since, until: since.adding(1000), onlyFailures: false, report: store.report)
        #expect(
            [totals.accepted, totals.duplicate, totals.ignored, totals.untrusted] == [1, 1, 1, 2])
        #expect(!store.queries[0].onlyFailures)
        let items = store.items
        #expect(items.map { $0.claim?.signedAt } == [nil] + (1...4).map { since.adding($0) })
        #expect(items[0].outcome == .untrusted(code: "signed_data_malformed"))
        #expect(items[1].outcome == .taken(.accepted))
        #expect(items[1].claim?.type == "TEST")
        #expect(items[1].sendAttempts.map(\.result) == ["TIMED_OUT"])
        #expect(items[4].outcome == .untrusted(code: "transaction_mismatch"))
    }

    @Test func `sorts no more than it can hold`() async throws {
        let since = try instant("2026-11-26T00:00:00Z")
        // 5000 within half an hour, the last first.
        for index in (0..<5000 as Range<Int64>).reversed() {
            store.add(since.adding(index * 360), "n\(index)")
        }
        let totals = try await store.catchUp().run(
            since: since, until: since.adding(86_400_000), onlyFailures: true,
            report: store.report)
        // Those at the seams of two spans are met twice.
        #expect(totals.accepted + totals.duplicate == store.taken.count)
        #expect(totals.accepted == 5000)
        #expect(totals.duplicate < 20)
        var seen: Set<String> = []
        let order = store.taken.filter { seen.insert($0).inserted }
        #expect(order == (0..<5000).map { "n\($0)" })
        #expect(store.heldMax <= NotificationCatchUp.sortedMax + SentNotifications.pageLength)
    }

    @Test func `takes a crowded second as it comes`() async throws {
        let since = try instant("2026-11-26T00:00:00Z")
        for index in 0..<4500 { store.add(since.adding(Int64(index % 900)), "n\(index)") }
        let totals = try await store.catchUp().run(
            since: since, until: since.adding(1000), onlyFailures: true, report: store.report)
        #expect(totals.accepted == 4500)
        #expect(Set(store.taken).count == 4500)
    }

    @Test func `says where to go on when the store gives up`() async throws {
        let since = try instant("2026-11-26T00:00:00Z")
        store.add(since.adding(3_600_000), "a")
        store.add(since.adding(30 * 3_600_000), "b")
        store.add(since.adding(60 * 3_600_000), "c")
        store.fail(.unavailable(.notJSON), after: 2)
        let until = since.adding(100 * 3_600_000)
        do throws(NotificationCatchUp.Stopped) {
            _ = try await store.catchUp().run(
                since: since, until: until, onlyFailures: true, report: store.report)
            Issue.record("it went on")
        } catch {
            #expect(error.reason == .store(.unavailable(.notJSON)))
            #expect(error.resumeAt == since.adding(48 * 3_600_000))
            #expect(error.totals.accepted == 2)
            let totals = try await store.catchUp().run(
                since: error.resumeAt, until: until, onlyFailures: true, report: store.report)
            #expect(totals.accepted == 1)
        }
        #expect(store.taken == ["a", "b", "c"])
    }

    @Test func `tries the ledger a few times`() async throws {
        let since = try instant("2026-11-26T00:00:00Z")
        store.add(since.adding(1), "a", .failure(.unavailable), .failure(.overloaded))
        let totals = try await store.catchUp().run(
            since: since, until: since.adding(1000), onlyFailures: true, report: store.report)
        #expect(totals.accepted == 1)
        #expect(store.pauses == [1000, 1000])
    }

    @Test func `says where to go on when the ledger gives up`() async throws {
        let since = try instant("2026-11-26T00:00:00Z")
        store.add(since.adding(1), "a")
        let refusals = Array(repeating: SentNotifications.Answer.failure(.unavailable), count: 9)
        store.add(since.adding(86_400_001), "b", refusals)
        let expected = await #expect(throws: NotificationCatchUp.Stopped.self) {
            _ = try await store.catchUp().run(
                since: since, until: since.adding(200_000_000), onlyFailures: true,
                report: store.report)
        }
        let stopped = try #require(expected)
        #expect(stopped.reason == .ledger)
        #expect(stopped.resumeAt == since.adding(86_400_000))
        #expect(stopped.totals.accepted == 1)
        #expect(store.pauses == [1000, 1000, 1000, 1000])
    }

    @Test func `doesn't follow a store that never ends`() async throws {
        let since = try instant("2026-11-26T00:00:00Z")
        store.repeatsPages()
        let expected = await #expect(throws: NotificationCatchUp.Stopped.self) {
            _ = try await store.catchUp().run(
                since: since, until: since.adding(1000), onlyFailures: true, report: store.report)
        }
        #expect(expected?.reason == .store(.wrongShape(field: "paginationToken")))
        #expect(store.queries.count == NotificationCatchUp.pagesMax)
    }

    @Test(arguments: [
        "", "a", "a.b", "a.b.c", "a.e30.c", "a.e30", "a.bnVsbA.c", "....", "a.\u{e9}.c",
    ])
    func `reads no name where there is none`(text: String) {
        #expect(NotificationClaim(signedPayload: text) == nil)
    }
}

/// A store that has sent notifications, and a queue that takes them.
private final class SentNotifications: Sendable {
    typealias Answer = Result<NotificationIntake.Result, NotificationIntake.Failure>

    private struct Sent {
        let signedAt: Int64
        let name: String
        let payload: String
        var answers: [Answer]
    }

    private struct State {
        var sent: [Sent] = []
        var queries: [NotificationHistoryQuery] = []
        var taken: [String] = []
        var known: Set<String> = []
        var items: [NotificationCatchUp.Item] = []
        var pauses: [Int64] = []
        var failure: AppStoreServerError?
        var goodFetches = Int.max
        var repeatsPages = false
        var held = 0
        var heldMax = 0
    }

    private let state = Lock(State())

    static let pageLength = 20

    var queries: [NotificationHistoryQuery] { state.withLock { $0.queries } }
    /// The names of those that were given to the queue, as often as they were.
    var taken: [String] { state.withLock { $0.taken } }
    var items: [NotificationCatchUp.Item] { state.withLock { $0.items } }
    var pauses: [Int64] { state.withLock { $0.pauses } }
    /// The most that were fetched and not given to the queue.
    var heldMax: Int { state.withLock { $0.heldMax } }

    func add(_ signedAt: Timestamp, _ name: String, _ answers: Answer...) {
        add(signedAt, name, answers)
    }

    func add(_ signedAt: Timestamp, _ name: String, _ answers: [Answer]) {
        let payload: JSON = [
            "notificationType": "TEST", "version": "2.0",
            "notificationUUID": "0a4b0a52-6c1b-4b6e-8f0e-6b8f5c1d2e3f",
            "signedDate": .integer(signedAt.milliseconds),
            "data": ["bundleId": "com.nonchalant", "environment": "Sandbox"],
        ]
        let text = "\(name).\(Base64.encode(payload.bytes, .url)).c"
        add(Sent(signedAt: signedAt.milliseconds, name: name, payload: text, answers: answers))
    }

    func addUnreadable(_ name: String, _ answer: Answer, at signedAt: Timestamp) {
        add(
            Sent(
                signedAt: signedAt.milliseconds, name: name, payload: "\(name).e30.c",
                answers: [answer]))
    }

    private func add(_ sent: Sent) { state.withLock { $0.sent.append(sent) } }

    /// Fails once, after so many answers.
    func fail(_ error: AppStoreServerError, after count: Int) {
        state.withLock { state in
            state.failure = error
            state.goodFetches = count
        }
    }

    func repeatsPages() { state.withLock { $0.repeatsPages = true } }

    func catchUp() -> NotificationCatchUp {
        NotificationCatchUp(
            fetch: { (query, page) async throws(AppStoreServerError) in
                try self.fetch(query, page)
            },
            accept: { (payload) async throws(NotificationIntake.Failure) in
                try self.accept(payload)
            },
            sleep: { milliseconds in self.state.withLock { $0.pauses.append(milliseconds) } })
    }

    @Sendable func report(_ item: NotificationCatchUp.Item) async {
        state.withLock { $0.items.append(item) }
    }

    private func fetch(
        _ query: NotificationHistoryQuery, _ page: String?
    ) throws(AppStoreServerError) -> NotificationPage {
        let result: Result<NotificationPage, AppStoreServerError> = state.withLock { state in
            state.queries.append(query)
            if state.repeatsPages {
                return .success(NotificationPage(notifications: [], next: "again"))
            }
            if state.goodFetches == 0, let failure = state.failure {
                state.failure = nil
                return .failure(failure)
            }
            state.goodFetches -= 1
            let found = state.sent.filter {
                (query.startDate...query.endDate).contains($0.signedAt)
            }
            let start = page.flatMap { Int($0) } ?? 0
            let part = found.dropFirst(start).prefix(Self.pageLength)
            state.held = (page == nil ? 0 : state.held) + part.count
            state.heldMax = max(state.heldMax, state.held)
            let end = start + part.count
            let records = part.map { sent in
                NotificationRecord(
                    signedPayload: sent.payload,
                    sendAttempts: [DeliveryAttempt(attemptedAt: 1, result: "TIMED_OUT")])
            }
            return .success(
                NotificationPage(
                    notifications: records, next: end < found.count ? "\(end)" : nil))
        }
        return try result.get()
    }

    private func accept(
        _ payload: String
    ) throws(NotificationIntake.Failure) -> NotificationIntake.Result {
        let answer: Answer = state.withLock { state in
            state.held = 0
            guard let index = state.sent.firstIndex(where: { $0.payload == payload }) else {
                return .failure(.untrusted(.notification(.badSignature)))
            }
            if !state.sent[index].answers.isEmpty { return state.sent[index].answers.removeFirst() }
            let name = state.sent[index].name
            state.taken.append(name)
            return .success(state.known.insert(name).inserted ? .accepted : .duplicate)
        }
        return try answer.get()
    }
}
