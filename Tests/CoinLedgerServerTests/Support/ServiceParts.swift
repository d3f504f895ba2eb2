import AppStore
import AppStoreConnection
import AppStoreStandIn
import Base
import CoinLedger
import CoinLedgerService
import EventStore
import Telemetry

extension CommandRules {
    /// Hearts for 30 and bouquets for 100 coins; free coins live for 180 days of Tokyo.
    static func test() throws -> CommandRules {
        let catalogue = """
            {"version": "stamps-1", "bundleIds": ["a"], "products": [{"productId": "p", "paid": 1}],
             "stamps": [
               {"stampId": "heart", "coins": 30, "validUntil": "2026-12-31T00:00:00Z"},
               {"stampId": "heart", "coins": 40, "validFrom": "2026-12-31T00:00:00Z"},
               {"stampId": "dear", "coins": 9007199254740991}]}
            """
        return CommandRules(
            catalogue: try CatalogueFile.parse(Array(catalogue.utf8)),
            policy: try PolicyFile.parse(Array(#"{"version": "policy-1"}"#.utf8)))
    }
}

extension ReceiptService {
    /// One that knows one product, and that no store answers.
    static func test(
        _ ledger: Ledger, _ attempts: any AttemptStore, _ metrics: Metrics,
        clock: @escaping @Sendable () -> Timestamp
    ) throws -> ReceiptService {
        let authority = StandInAuthority(now: clock().milliseconds / 1000)
        let roots = try RootCertificates(
            files: [Array(authority.root.pem.utf8)], allowPrivate: true)
        let policy = PurchasePolicy(
            catalogue: try CommandRules.test().catalogue, sandbox: .refuse, quantityMax: 1,
            freeExpiry: nil)
        let workers = WorkerPool(threads: 1, jobsMax: 1)
        let telemetry = ReceiptTelemetry(metrics)
        let verifier = VerifyReceiptClient(
            send: { (_) async throws(HTTPClientError) in throw .timedOut }, pool: workers,
            configuration: VerifyReceiptConfiguration(), clock: .system)
        return ReceiptService(
            granter: PurchaseGranter(
                ledger: ledger, policy: { policy }, clock: clock, telemetry: telemetry, log: .none),
            attempts: AttemptRecorder(
                store: attempts, keepsReceipts: false, metrics: metrics, log: .none),
            verification: ReceiptVerification(
                verifier: SignedTransactionVerifier(roots: roots),
                receipts: AppReceiptVerifier(roots: roots), mode: .remote, workers: workers,
                store: verifier, telemetry: telemetry),
            clock: clock, telemetry: telemetry, log: .none)
    }
}

extension NotificationIntake {
    /// One that takes what `authority` signs for the stand-in's app.
    static func test(
        _ store: any NotificationStore, _ authority: StandInAuthority, _ bell: NotificationBell,
        _ metrics: Metrics, clock: @escaping @Sendable () -> Timestamp
    ) throws -> NotificationIntake {
        let roots = try RootCertificates(files: [authority.root.der], allowPrivate: true)
        return NotificationIntake(
            verification: NotificationVerification(
                verifier: SignedTransactionVerifier(roots: roots),
                workers: WorkerPool(threads: 1, jobsMax: 100)),
            store: store, apps: NotifiedApps(bundleIDs: { ["com.nonchalant"] }, appIDs: []),
            bell: bell, clock: clock, telemetry: NotificationTelemetry(metrics), log: .none)
    }
}

/// Keys in memory.
struct FixedKeys: APIKeyStore {
    let keys: [APIKey]

    func apiKeys() throws(EventStoreError) -> [APIKey] { keys }

    func create(_: APIKey) throws(EventStoreError) { throw .unavailable("no key is made here") }

    func revokeAPIKey(_: String, at _: Timestamp) throws(EventStoreError) -> Bool { false }
}
