import AppStore
import AppStoreConnection
import Base
import Testing

@Suite struct `Asking the App Store Server API` {
    private func failure(
        _ client: AppStoreServerClient, in environment: StoreEnvironment = .production
    ) async -> AppStoreServerError? {
        do throws(AppStoreServerError) {
            _ = try await client.transaction("1", in: environment)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            (.error(4_040_010), .notFound(code: 4_040_010), 1),
            (.error(4_040_001), .notFound(code: 4_040_001), 1),
            (.error(4_040_008), .notFound(code: 4_040_008), 1),
            (.error(4_049_999), .notFound(code: 4_049_999), 1),
            (.error(4_040_002), .unavailable(.status(4_040_002)), 4),
            (.error(4_040_004), .unavailable(.status(4_040_004)), 4),
            (.error(4_040_006), .unavailable(.status(4_040_006)), 4),
            (.error(5_000_000), .unavailable(.status(5_000_000)), 4),
            (.error(5_000_001), .unavailable(.status(5_000_001)), 4),
            (.error(5_039_999), .unavailable(.status(5_039_999)), 4),
            (.error(4_290_000), .rateLimited(until: nil), 4),
            (.error(4_290_000, status: 400), .rateLimited(until: nil), 4),
            (
                .error(4_000_000), .refused(status: 400, code: 4_000_000, message: "Text."), 1
            ),
            (
                .error(4_000_999), .refused(status: 400, code: 4_000_999, message: "Text."), 1
            ),
            (.error(1, status: 403), .refused(status: 403, code: 1, message: "Text."), 1),
            (.text("", status: 404), .unavailable(.http(404)), 4),
            (.text("<html>", status: 400), .unavailable(.http(400)), 4),
            (.text("{}", status: 502), .unavailable(.http(502)), 4),
            (.text("", status: 302), .unavailable(.http(302)), 4),
            (.text("<html>"), .unavailable(.notJSON), 4), (.text(""), .unavailable(.notJSON), 4),
            (.text("[]"), .unavailable(.notJSON), 4),
            (.text("{}"), .wrongShape(field: "signedTransactionInfo"), 1),
            (
                .text(#"{"signedTransactionInfo":7}"#), .wrongShape(field: "signedTransactionInfo"),
                1
            ),
            (.failure(.timedOut), .unavailable(.transport(.timedOut)), 4),
            (.failure(.tooManyRequests), .unavailable(.transport(.tooManyRequests)), 4),
        ] as [(ScriptedStore.Answer, AppStoreServerError, Int)])
    func `answers each error in its way`(
        answer: ScriptedStore.Answer, error: AppStoreServerError, requests: Int
    ) async throws {
        let store = ScriptedStore([answer])
        #expect(await failure(try store.serverClient()) == error)
        #expect(store.requests.count == requests)
    }

    @Test func `keeps the store's words fit for a log`() async throws {
        let text = String(repeating: "x", count: 199) + "\n" + "yz"
        let body: JSON = ["errorCode": 4_000_000, "errorMessage": .string(text)]
        let store = ScriptedStore([
            .text(String(decoding: body.bytes, as: UTF8.self), status: 400)
        ])
        let message = String(repeating: "x", count: 199) + " "
        #expect(
            await failure(try store.serverClient())
                == .refused(status: 400, code: 4_000_000, message: message))
    }

    @Test func `succeeds once the store does`() async throws {
        let store = ScriptedStore([
            .failure(.interrupted), .error(5_000_001), .text("<html>"),
            .json(["signedTransactionInfo": "a.b.c"]),
        ])
        #expect(
            try await store.serverClient().transaction("1", in: .production) == "a.b.c")
        #expect(store.pauses == [250, 500, 1000])
    }

    @Test func `ends at the deadline, and gives each attempt what is left`() async throws {
        let store = ScriptedStore([.failure(.timedOut)], takesMilliseconds: 3000)
        let client = try store.serverClient { $0.deadlineMilliseconds = 4000 }
        #expect(await failure(client) == .unavailable(.transport(.timedOut)))
        #expect(store.requests.map(\.timeoutMilliseconds) == [4000, 750])
    }

    @Test func `tells what went wrong before it ran out of time`() async throws {
        let store = ScriptedStore([.text("", status: 503)])
        let client = try store.serverClient(oversleepMilliseconds: 60_000)
        #expect(await failure(client) == .unavailable(.http(503)))
        #expect(store.requests.count == 1)
    }

    @Test func `asks again when the store wants to be asked again`() async throws {
        let store = ScriptedStore([
            .text("", status: 429, retryAfter: "\(noon + 7000)"),
            .json(["signedTransactionInfo": "a.b.c"]),
        ])
        #expect(try await store.serverClient().transaction("1", in: .production) == "a.b.c")
        #expect(store.times == [1000, 8000])
    }

    @Test func `gives up at once if that is too late`() async throws {
        let store = ScriptedStore([.text("", status: 429, retryAfter: "\(noon + 60_000)")])
        let client = try store.serverClient()
        #expect(await failure(client) == .rateLimited(until: noon + 60_000))
        #expect(store.requests.count == 1)
        // Whoever comes next isn't even sent, but elsewhere the store may still be asked.
        #expect(await failure(client) == .rateLimited(until: noon + 60_000))
        #expect(store.requests.count == 1)
        _ = await failure(client, in: .sandbox)
        #expect(store.asked == "PS")
        _ = try? await client.refunds(of: "1", in: .production)
        #expect(store.asked == "PSP")
        store.wait(milliseconds: 60_000)
        _ = await failure(client)
        #expect(store.asked.hasPrefix("PSPP"))
    }

    @Test(arguments: ["", "soon", "-5", "1.5", "99999999999999999999", "Mon, 30 Nov 2026"])
    func `paces itself if the store's wish makes no sense`(wish: String) async throws {
        let store = ScriptedStore([.text("", status: 429, retryAfter: wish)])
        #expect(await failure(try store.serverClient()) == .rateLimited(until: nil))
        #expect(store.pauses == [250, 500, 1000])
    }

    @Test func `takes a small number for seconds`() async throws {
        let store = ScriptedStore([
            .text("", status: 429, retryAfter: "5"), .json(["signedTransactionInfo": "a.b.c"]),
        ])
        _ = try await store.serverClient().transaction("1", in: .production)
        #expect(store.times == [1000, 6000])
    }

    @Test func `doesn't hurry because of an instant in the past`() async throws {
        let store = ScriptedStore([.text("", status: 429, retryAfter: "\(noon - 1)")])
        #expect(await failure(try store.serverClient()) == .rateLimited(until: noon - 1))
        #expect(store.pauses == [250, 500, 1000])
    }

    @Test func `is silenced for an hour at most`() async throws {
        let store = ScriptedStore([
            .text("", status: 429, retryAfter: "\(noon + 86_400_000)"),
            .json(["signedTransactionInfo": "a.b.c"]),
        ])
        let client = try store.serverClient()
        #expect(await failure(client) == .rateLimited(until: noon + 86_400_000))
        store.wait(milliseconds: 3_600_000)
        #expect(await failure(client) == nil)
    }

    typealias Call = @Sendable (AppStoreServerClient, StoreEnvironment) async throws -> Void

    /// Every call with its published limit a second.
    private static let calls: [(String, Int, Call)] = [
        ("transaction", 50, { _ = try await $0.transaction("1", in: $1) }),
        ("history", 50, { _ = try await $0.history(of: "1", in: $1) }),
        ("refunds", 10, { _ = try await $0.refunds(of: "1", in: $1) }),
        ("token", 20, { try await $0.setAppAccountToken("t", of: "1", in: $1) }),
        ("finish", 50, { try await $0.finish("1", in: $1) }),
        ("test", 1, { _ = try await $0.requestTestNotification(in: $1) }),
        ("status", 1, { _ = try await $0.testNotification("t", in: $1) }),
        (
            "notifications", 50,
            {
                _ = try await $0.notificationHistory(.init(startDate: 1, endDate: 2), in: $1)
            }
        ),
    ]

    @Test(arguments: calls.map(\.0))
    func `stays below the store's limits`(name: String) async throws {
        let (_, limit, call) = try #require(Self.calls.first { $0.0 == name })
        for (environment, tenths) in [(StoreEnvironment.production, 10), (.sandbox, 1)] {
            let store = ScriptedStore([
                "signedTransactionInfo": "a", "signedTransactions": [], "hasMore": false,
                "testNotificationToken": "t",
            ])
            let client = try store.serverClient()
            let count = limit * 5
            for _ in 0..<count { try await call(client, environment) }
            let times = store.times
            #expect(times.count == count)
            // Of any span of time; one of ten seconds is allowed as many as `limit * tenths`.
            let most = limit * tenths
            let crowded = times.indices.filter { index in
                times[index...].prefix { $0 < times[index] + 10_000 }.count > most
            }
            #expect(crowded == [])
            // Nor is it much slower than it has to be.
            let milliseconds = Int(times[count - 1] - times[0])
            #expect(milliseconds <= count * 10_000 * 10 / (most * 8))
        }
    }

    @Test func `looks orders up in their turn`() async throws {
        let store = ScriptedStore(["status": 1])
        let client = try store.serverClient()
        for _ in 0..<9 { _ = try await client.order("A") }
        #expect(store.times == [1000, 1125, 1250, 1375, 1500, 1625, 1750, 1875, 2000])
    }

    @Test func `doesn't wait for a turn that comes too late`() async throws {
        let store = ScriptedStore(["testNotificationToken": "t"])
        let client = try store.serverClient { $0.deadlineMilliseconds = 12_000 }
        _ = try await client.requestTestNotification(in: .sandbox)
        await #expect(throws: AppStoreServerError.rateLimited(until: noon + 12_500)) {
            _ = try await client.requestTestNotification(in: .sandbox)
        }
        #expect(store.requests.count == 1)
        #expect(store.pauses == [])
    }

    @Test func `has a bound on calls under way`() async throws {
        let inner = Lock<[AppStoreServerError?]>([])
        let outer = Lock<AppStoreServerClient?>(nil)
        var configuration = try AppStoreServerConfiguration.test()
        configuration.inFlightMax = 2
        // The store's answer needs another call, and that one's another.
        let client = AppStoreServerClient(
            send: { (_) async throws(HTTPClientError) in
                if let client = outer.withLock({ $0 }) {
                    let error = await failure(client)
                    inner.withLock { $0.append(error) }
                }
                return HTTPClientResponse(
                    status: 200, body: Array(#"{"signedTransactionInfo":"a"}"#.utf8))
            }, pool: pool, configuration: configuration, clock: .system, wallClock: { noon })
        outer.withLock { $0 = client }
        #expect(await failure(client) == nil)
        #expect(inner.withLock { $0 } == [.overloaded, nil])
        // What has ended makes room.
        #expect(await failure(client) == nil)
        #expect(inner.withLock { $0 } == [.overloaded, nil, .overloaded, nil])
        outer.withLock { $0 = nil }
    }

    @Test func `is unavailable while too many answers are read`() async throws {
        let pool = WorkerPool(threads: 1, jobsMax: 0)
        defer { pool.stop() }
        var configuration = try AppStoreServerConfiguration.test()
        configuration.attemptsMax = 1
        let client = AppStoreServerClient(
            send: { (_) async throws(HTTPClientError) in
                HTTPClientResponse(status: 200, body: Array("{}".utf8))
            }, pool: pool, configuration: configuration, clock: .system, wallClock: { noon })
        #expect(await failure(client) == .unavailable(.overloaded))
    }

    @Test func `says whether the same call may succeed later`() {
        #expect(AppStoreServerError.rateLimited(until: nil).isRetryable)
        #expect(AppStoreServerError.unavailable(.notJSON).isRetryable)
        #expect(AppStoreServerError.unauthorized.isRetryable)
        #expect(!AppStoreServerError.notFound(code: 4_040_010).isRetryable)
        #expect(!AppStoreServerError.refused(status: 400, code: nil, message: "").isRetryable)
    }
}
