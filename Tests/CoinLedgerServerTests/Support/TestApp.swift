import AppStoreStandIn
import Base
import CoinLedger
import CoinLedgerServer
import CoinLedgerService
import EventLoop
import EventStore
import HTTPServer
import InMemoryEventStore
import LedgerTestSupport
import Telemetry
import TestSupport
import Testing

/// The API on a ledger in memory, at an instant that the test chooses.
final class TestApp: Sendable {
    let app: CoinLedgerApp
    let ledger: Ledger
    let shop: StandInStore
    let store = InMemoryEventStore(laneCount: 2)
    private let time = Lock<Timestamp>(.noon)
    private let keys: [APIScope: String]
    private let allKey: String

    /// - Parameter lookup: what the App Store Server API answers; nil if there is no key for it.
    static func run(
        lookup: StoreLookup? = nil, _ body: @escaping @Sendable (TestApp) async throws -> Void
    ) async throws {
        try await onLoop { loop in try await body(TestApp(loop, lookup)) }
    }

    private init(_ loop: EventLoop, _ lookup: StoreLookup?) throws {
        let time = self.time
        let clock: @Sendable () -> Timestamp = { time.withLock { $0 } }
        let made = APIScope.allCases.map { scope in
            (scope, APIKeyText.make(name: scope.rawValue, scopes: [scope], at: .noon))
        }
        let all = APIKeyText.make(name: "all", scopes: APIScope.allCases, at: .noon)
        keys = Dictionary(uniqueKeysWithValues: made.map { ($0.0, $0.1.text) })
        allKey = all.text
        let services = try CoinLedgerApp.Services.test(
            store, trusting: TestApp.authority, on: loop,
            keys: KeyRing(
                store: FixedKeys(keys: made.map(\.1.key) + [all.key]), now: { EventLoop.now() }),
            lookup: lookup, isReady: true, clock: clock)
        ledger = services.ledger
        app = CoinLedgerApp(services)
        shop = StandInStore(authority: TestApp.authority, now: { clock().milliseconds })
    }

    private static let authority = StandInAuthority(now: Timestamp.noon.milliseconds / 1000)

    private static let contract = OpenAPIContract(
        (try? JSON.parse(OpenAPIDocument.bytes)) ?? .null)

    /// Says what time it is for the service.
    func setTime(_ now: Timestamp) { time.withLock { $0 = now } }

    /// Asks with a key that may do everything, or only what `scope` says, and expects an answer that
    /// the API's document promises.
    func ask(
        _ method: String, _ target: String, _ body: JSON? = nil, key: String? = nil,
        scope: APIScope? = nil
    ) async -> HTTPAnswer {
        await ask(
            method, target, bytes: body?.bytes ?? [], keys: key.map { [$0] } ?? [], scope: scope)
    }

    func ask(
        _ method: String, _ target: String, bytes: [UInt8], keys idempotencyKeys: [String],
        scope: APIScope? = nil
    ) async -> HTTPAnswer {
        let key = scope.flatMap { keys[$0] } ?? allKey
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        let headers =
            [(name: "Authorization", value: "Bearer \(key)")]
            + idempotencyKeys.map { (name: "Idempotency-Key", value: $0) }
        let response = await app.respond(
            to: HTTPRequest(
                method: method, target: target, path: parts[0],
                query: parts.count > 1 ? parts[1] : nil, headers: HTTPHeaders(headers), body: bytes)
        )
        let body = Lock<[UInt8]>(response.body)
        await response.producer? { part in
            body.withLock { $0 += part }
            return true
        }
        let answer = HTTPAnswer(
            status: response.status, headers: response.headers, body: body.withLock { $0 })
        let findings = TestApp.contract.findings(method, target, answer)
        #expect(findings == [], "\(method) \(target): \(answer.text)")
        return answer
    }

    /// Posts to something of the account u1.
    func post(
        _ path: String, _ body: JSON, key: String = "k\(UInt32.random(in: .min ... .max))",
        scope: APIScope? = nil
    ) async -> HTTPAnswer {
        await ask("POST", "/v1/accounts/u1/\(path)", body, key: key, scope: scope)
    }

    func give(_ coins: Int64) async -> HTTPAnswer {
        await post("grants", ["coins": .integer(coins), "reason": "test"])
    }

    /// Grants a purchase of 990 thousandths of a dollar to u1.
    func buy(
        _ id: TransactionID, paid: Coins = 100, free: Coins = 0,
        environment: Environment = .production
    ) async throws {
        let grant = Command.grant(
            id, to: "u1", paid: paid, free: free, environment: environment)
        let command = Command(
            id: .random(), account: "u1", time: time.withLock { $0 }, action: grant.action)
        let outcomes = try await ledger.submit([command], of: "u1")
        guard case .done = try #require(outcomes.first).result else {
            Issue.record("\(id) wasn't granted")
            return
        }
    }

    func balance(_ query: String = "") async -> JSON {
        await ask("GET", "/v1/accounts/u1/balance\(query)").json
    }

    func total() async -> Int64? { await balance()["total"]?.integer }
}

extension HTTPAnswer {
    var isReplayed: Bool { self["Idempotent-Replayed"] == "true" }
}
