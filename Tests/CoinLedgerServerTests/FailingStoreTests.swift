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
