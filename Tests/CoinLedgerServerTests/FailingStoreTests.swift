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
import Telemetry
import TestSupport
import Testing

/// What callers are told when the store fails in ways that a database seldom does.
@Suite(.timeLimit(.minutes(1))) struct `A store that fails` {
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
        let noon = try #require(Timestamp("2026-11-30T14:34:00.000Z"))
        try await onLoop { loop in
            let made = APIKeyText.make(name: "x", scopes: [.read], at: noon)
            let app = try app(FailingStore(error: expectation.error, key: made.key), loop, noon)
            for path in ["balance", "events"] {
                let response = await app.respond(
                    to: request("/v1/accounts/u1/\(path)", key: made.text))
                #expect(response.status == expectation.status)
                let body = try JSON.parse(response.body)
                #expect(body["code"]?.string == expectation.code)
                #expect(body["retryable"] == true)
                #expect(!String(decoding: response.body, as: UTF8.self).contains("secret"))
            }
        }
    }

    @Test func `to give the keys lets nobody in, and says whose fault it is`() async throws {
        let noon = try #require(Timestamp("2026-11-30T14:34:00.000Z"))
        try await onLoop { loop in
            let made = APIKeyText.make(name: "x", scopes: [.read], at: noon)
            let app = try app(FailingStore(error: .unavailable("x"), key: nil), loop, noon)
            let response = await app.respond(
                to: request("/v1/accounts/u1/balance", key: made.text))
            #expect(response.status == 503)
            #expect(response.headers.contains { $0 == ("Retry-After", "2") })
            #expect(await app.respond(to: request("/readyz", key: made.text)).status == 503)
            #expect(await app.respond(to: request("/livez", key: made.text)).status == 200)
        }
    }

    private func request(_ path: String, key: String) -> HTTPRequest {
        HTTPRequest(
            method: "GET", target: path, path: path, query: nil,
            headers: ["Authorization": "Bearer \(key)"], body: [])
    }

    private func app(
        _ store: FailingStore, _ loop: EventLoop, _ now: Timestamp
    ) throws -> CoinLedgerApp {
        let metrics = Metrics()
        let writers = WriterTelemetry(metrics)
        let ledger = Ledger(store: store) { lane in
            LedgerWriter(
                lane: lane, store: store, executor: loop, telemetry: writers, log: .none,
                pause: { _ in })
        }
        return CoinLedgerApp(
            .init(
                ledger: ledger, receipts: try receipts(ledger, metrics, now),
                balances: BalanceReader(store: store, executor: loop),
                keys: KeyRing(store: store, now: { EventLoop.now() }), metrics: metrics,
                log: .none, clock: { now }, isReady: { false }))
    }

    private func receipts(
        _ ledger: Ledger, _ metrics: Metrics, _ now: Timestamp
    ) throws -> ReceiptService {
        let authority = StandInAuthority(now: now.milliseconds / 1000)
        let roots = try RootCertificates(
            files: [Array(authority.root.pem.utf8)], allowPrivate: true)
        let catalogue = try CatalogueFile.parse(
            Array(
                """
                {"version": "1", "bundleIds": ["a"], "products": [{"productId": "p", "paid": 1}]}
                """.utf8))
        let policy = PurchasePolicy(catalogue: catalogue, sandbox: .refuse, quantityMax: 1)
        let workers = WorkerPool(threads: 1, jobsMax: 1)
        let telemetry = ReceiptTelemetry(metrics)
        let verifier = VerifyReceiptClient(
            send: { (_) async throws(HTTPClientError) in throw .timedOut }, pool: workers,
            configuration: VerifyReceiptConfiguration(), clock: .system)
        return ReceiptService(
            ledger: ledger, policy: { policy },
            verification: ReceiptVerification(
                verifier: SignedTransactionVerifier(roots: roots), workers: workers,
                store: verifier, telemetry: telemetry),
            clock: { now }, telemetry: telemetry, log: .none)
    }
}

/// Knows at most one key, and fails at everything else.
private struct FailingStore: EventStore, APIKeyStore {
    let error: EventStoreError
    let key: APIKey?
    let laneCount: Int64 = 1

    func load(_: LoadRequest) throws(EventStoreError) -> Loaded { throw error }
    func append(_: Batch) throws(EventStoreError) { throw error }

    func accounts(_: [AccountID]) throws(EventStoreError) -> [AccountID: Account] { throw error }

    func events(
        of _: AccountID, after _: Int64, limit _: Int
    ) throws(EventStoreError) -> [StoredEvent] { throw error }

    func events(
        in _: Lane, after _: Int64, limit _: Int
    ) throws(EventStoreError) -> [StoredEvent] { throw error }

    func heads() throws(EventStoreError) -> [Lane: Int64] { throw error }

    func accounts(
        in _: Lane, after _: AccountID?, limit _: Int
    ) throws(EventStoreError) -> [(id: AccountID, account: Account)] { throw error }

    func record(_: PurchaseRefusal) throws(EventStoreError) { throw error }

    func apiKeys() throws(EventStoreError) -> [APIKey] {
        guard let key else { throw error }
        return [key]
    }

    func create(_: APIKey) throws(EventStoreError) { throw error }
    func revokeAPIKey(_: String, at _: Timestamp) throws(EventStoreError) -> Bool { throw error }
}
