import AppStore
import AppStoreConnection
import AppStoreStandIn
import Base
import CoinLedger
import CoinLedgerServer
import CoinLedgerService
import EventLoop
import EventStore
import HTTPServer
import LedgerTestSupport
import Telemetry
import TestSupport
import Testing

/// What callers are told when the store fails in ways that a database seldom does.
@Suite(.timeLimit(.minutes(15))) struct `A store that fails` {
    struct Expectation: Sendable {
        let error: EventStoreError
        let status: Int
        let code: String
    }

    static let expectations = [
        Expectation(error: .unavailable("x"), status: 503, code: "ledger_unavailable"),
        Expectation(error: .conflict, status: 503, code: "ledger_unavailable"),
        Expectation(error: .resultUnknown("x"), status: 503, code: "ledger_unavailable"),
        Expectation(error: .corrupt("secret"), status: 500, code: "internal_error"),
    ]

    @Test(arguments: expectations)
    func `is told by one problem, without what it said`(expectation: Expectation) async throws {
        try await onLoop { loop in
            let made = APIKeyText.make(name: "x", scopes: [.read, .support], at: .noon)
            let app = try app(FailingStore(error: expectation.error, key: made.key), loop, .noon)
            for path in [
                "app-store/notifications",
                "app-store/notifications/00000000-0000-4000-8000-00000000000a",
                "accounts/u1/balance", "accounts/u1/balance?byLot=true",
                "accounts/u1/balance?eventId=0-1", "accounts/u1/events", "accounts/u1/lots",
                "accounts/u1/consent", "events/0-1", "transactions/T1",
                "transactions/T1/consumption", "support/purchases?transactionId=T1",
                "support/purchases?accountId=u1&date=2026-11-30&zone=UTC",
            ] {
                let response = await app.respond(to: request("/v1/\(path)", key: made.text))
                #expect(response.status == expectation.status)
                let body = try JSON.parse(response.body)
                #expect(body["code"]?.string == expectation.code)
                #expect(body["retryable"] == true)
                #expect(!String(decoding: response.body, as: UTF8.self).contains("secret"))
            }
        }
    }

    @Test func `to give the keys lets nobody in, and says whose fault it is`() async throws {
        try await onLoop { loop in
            let made = APIKeyText.make(name: "x", scopes: [.read], at: .noon)
            let app = try app(FailingStore(error: .unavailable("x"), key: nil), loop, .noon)
            let response = await app.respond(
                to: request("/v1/accounts/u1/balance", key: made.text))
            #expect(response.status == 503)
            #expect(response.headers.contains { $0 == ("Retry-After", "2") })
            #expect(await app.respond(to: request("/readyz", key: made.text)).status == 503)
            #expect(await app.respond(to: request("/livez", key: made.text)).status == 200)
        }
    }

    @Test(arguments: expectations)
    func `is told to whoever wanted to change something`(expectation: Expectation) async throws {
        try await onLoop { loop in
            let made = APIKeyText.make(name: "x", scopes: APIScope.allCases, at: .noon)
            let app = try app(FailingStore(error: expectation.error, key: made.key), loop, .noon)
            let bodies: [(path: String, body: JSON)] = [
                ("accounts/u1/grants", ["coins": 1, "reason": "x"]),
                ("accounts/u1/spends", ["coins": 1, "purpose": "x"]),
                ("accounts/u1/spends/0-1/reversal", ["reason": "x"]),
                (
                    "refunds",
                    [
                        "transactionId": "T1", "environment": "Production", "type": "full",
                        "signedDate": 1,
                    ]
                ),
            ]
            for (path, body) in bodies {
                var asked = request("/v1/\(path)", key: made.text, method: "POST")
                asked = HTTPRequest(
                    method: asked.method, target: asked.target, path: asked.path,
                    headers: [
                        "Authorization": "Bearer \(made.text)", "Idempotency-Key": "k",
                    ], body: body.bytes)
                let response = await app.respond(to: asked)
                let isRead = path.hasSuffix("reversal")
                // What a writer can't do is the same to callers, whatever the reason.
                #expect(response.status == (isRead ? expectation.status : 503), "\(path)")
                let code = try JSON.parse(response.body)["code"]?.string
                #expect(code == (isRead ? expectation.code : "ledger_unavailable"), "\(path)")
            }
        }
    }

    @Test(arguments: expectations)
    func `has the App Store send its notification again`(expectation: Expectation) async throws {
        try await onLoop { loop in
            let app = try app(FailingStore(error: expectation.error, key: nil), loop, .noon)
            let shop = StandInStore(authority: authority, now: { Timestamp.noon.milliseconds })
            let body: JSON = ["signedPayload": .string(try shop.notification("TEST"))]
            let path = "/v1/app-store/notifications"
            let response = await app.respond(
                to: HTTPRequest(method: "POST", target: path, path: path, body: body.bytes))
            #expect(response.status == 503)
            #expect(try JSON.parse(response.body)["code"] == "ledger_unavailable")
        }
    }

    private func request(_ target: String, key: String, method: String = "GET") -> HTTPRequest {
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        return HTTPRequest(
            method: method, target: target, path: parts[0],
            query: parts.count > 1 ? parts[1] : nil,
            headers: ["Authorization": "Bearer \(key)"], body: [])
    }

    private func app(
        _ store: FailingStore, _ loop: EventLoop, _ now: Timestamp
    ) throws -> CoinLedgerApp {
        CoinLedgerApp(
            try .test(
                store, trusting: authority, on: loop,
                keys: KeyRing(store: store, now: { EventLoop.now() }),
                isReady: false, clock: { now }))
    }
}

private let authority = StandInAuthority(now: Timestamp.noon.milliseconds / 1000)

/// Knows at most one key, and fails at everything else.
private struct FailingStore: EventStore, APIKeyStore, AttemptStore {
    let error: EventStoreError
    let key: APIKey?
    let laneCount: Int64 = 1

    func load(_: LoadRequest) throws(EventStoreError) -> Loaded { throw error }
    func append(_: Batch) throws(EventStoreError) { throw error }

    func balances(
        of _: [AccountID], at _: Timestamp
    ) throws(EventStoreError) -> [AccountID: AccountBalance] { throw error }

    func account(_: AccountID) throws(EventStoreError) -> Account? { throw error }
    func claims(on _: [PurchaseKey]) throws(EventStoreError) -> PurchaseClaims { throw error }
    func event(_: EventID) throws(EventStoreError) -> StoredEvent? { throw error }
    func order(_: OrderID) throws(EventStoreError) -> StoredEvent? { throw error }

    func events(
        of _: AccountID, after _: Int64, limit _: Int, where _: EventFilter
    ) throws(EventStoreError) -> [StoredEvent] { throw error }

    func events(
        in _: Lane, after _: Int64, limit _: Int
    ) throws(EventStoreError) -> [StoredEvent] { throw error }

    func lots(
        of _: AccountID, after _: Int64, limit _: Int, openOnly _: Bool
    ) throws(EventStoreError) -> [StoredLot] { throw error }

    func lots(
        in _: Lane, after _: LotID?, limit _: Int
    ) throws(EventStoreError) -> [StoredLot] { throw error }

    func accountsWithExpiredLots(
        in _: Lane, at _: Timestamp, limit _: Int
    ) throws(EventStoreError) -> [AccountID] { throw error }

    func takeTurn(in _: Lane) throws(EventStoreError) { throw error }
    func endTurn(in _: Lane) throws(EventStoreError) { throw error }
    func heads() throws(EventStoreError) -> [Lane: Int64] { throw error }

    func accounts(
        in _: Lane, after _: AccountID?, limit _: Int
    ) throws(EventStoreError) -> [(id: AccountID, account: Account)] { throw error }

    func forgetAnswers(
        recordedBefore _: Timestamp, limit _: Int
    ) throws(EventStoreError) -> Int { throw error }

    func apiKeys() throws(EventStoreError) -> [APIKey] {
        guard let key else { throw error }
        return [key]
    }

    func create(_: APIKey) throws(EventStoreError) { throw error }

    func record(_: FailedPost) throws(EventStoreError) { throw error }

    func attempts(
        of _: TransactionID, limit _: Int
    ) throws(EventStoreError) -> [KeptAttempt] { throw error }

    func attempts(
        of _: AccountID, where _: AttemptFilter, limit _: Int
    ) throws(EventStoreError) -> [KeptAttempt] { throw error }

    func forgetAttempts(
        before _: Timestamp, limit _: Int
    ) throws(EventStoreError) -> Int { throw error }

    func revokeAPIKey(_: String, at _: Timestamp) throws(EventStoreError) -> Bool { throw error }
}

extension FailingStore: NotificationStore {
    func record(_: ReceivedNotification) throws(EventStoreError) -> Bool { throw error }

    func claimNotifications(
        due _: Timestamp, leaseEnd _: Timestamp, limit _: Int
    ) throws(EventStoreError) -> [KeptNotification] { throw error }

    func end(
        _: NotificationID, _: NotificationEnding, at _: Timestamp
    ) throws(EventStoreError) { throw error }

    func endUnclaimed(_: NotificationID, at _: Timestamp) throws(EventStoreError) -> Bool {
        throw error
    }

    func postpone(
        _: NotificationID, until _: Timestamp, detail _: String?
    ) throws(EventStoreError) { throw error }

    func retryDeadNotification(
        _: NotificationID, at _: Timestamp
    ) throws(EventStoreError) -> Bool { throw error }

    func retryUnclaimedNotifications(
        of _: AppAccountToken, at _: Timestamp
    ) throws(EventStoreError) -> Int { throw error }

    func notification(_: NotificationID) throws(EventStoreError) -> KeptNotification? {
        throw error
    }

    func notifications(
        in _: NotificationState, after _: Int64, limit _: Int
    ) throws(EventStoreError) -> [KeptNotification] { throw error }

    func notifications(
        of _: TransactionID, limit _: Int
    ) throws(EventStoreError) -> [KeptNotification] { throw error }

    func forgetNotifications(
        doneBefore _: Timestamp, limit _: Int
    ) throws(EventStoreError) -> Int { throw error }

    func owner(of _: AppAccountToken) throws(EventStoreError) -> AccountID? { throw error }
}
