import AppStore
import AppStoreConnection
import AppStoreStandIn
import Base
import CoinLedger
import CoinLedgerServer
import CoinLedgerService
import EventLoop
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

extension Ledger {
    /// One whose writers try again at once.
    static func test(_ store: any EventStore, on loop: EventLoop, _ metrics: Metrics) -> Ledger {
        let telemetry = WriterTelemetry(metrics)
        return Ledger(store: store) { lane in
            LedgerWriter(
                lane: lane, store: store, executor: loop, telemetry: telemetry, log: .none,
                pause: { _ in })
        }
    }
}

extension CoinLedgerApp.Services {
    /// Services that know one product, and that no store answers but `lookup`.
    static func test(
        _ store: any SupportReader.Store, trusting authority: StandInAuthority,
        on loop: EventLoop, keys: KeyRing, lookup: StoreLookup? = nil, isReady: Bool,
        clock: @escaping @Sendable () -> Timestamp
    ) throws -> CoinLedgerApp.Services {
        let metrics = Metrics()
        let rules = try CommandRules.test()
        let policy = PurchasePolicy(
            catalogue: rules.catalogue, sandbox: .refuse, quantityMax: 1, freeExpiry: nil)
        let ledger = Ledger.test(store, on: loop, metrics)
        let telemetry = ReceiptTelemetry(metrics)
        let granter = PurchaseGranter(
            ledger: ledger, policy: { policy }, clock: clock, telemetry: telemetry, log: .none)
        let roots = try RootCertificates(
            files: [Array(authority.root.pem.utf8)], allowPrivate: true)
        let verifier = SignedTransactionVerifier(roots: roots)
        let workers = WorkerPool(threads: 1, jobsMax: 1)
        let verification = ReceiptVerification(
            verifier: verifier, receipts: AppReceiptVerifier(roots: roots), mode: .remote,
            workers: workers, store: .silent(workers), telemetry: telemetry)
        let bell = NotificationBell()
        return CoinLedgerApp.Services(
            ledger: ledger,
            receipts: ReceiptService(
                granter: granter,
                attempts: AttemptRecorder(
                    store: store, keepsReceipts: false, metrics: metrics, log: .none),
                verification: verification, clock: clock, telemetry: telemetry, log: .none),
            balances: BalanceReader(store: store, executor: loop, clock: clock),
            rules: { rules },
            refunds: RefundService(
                ledger: ledger, policy: { rules.policy }, clock: clock, log: .none),
            history: AccountHistory(store: store), purchases: PurchaseReader(store: store),
            redeliveries: RedeliveryService(
                ledger: ledger, granter: granter, owners: TokenOwners(store: store, clock: clock),
                store: lookup, verification: verification, clock: clock, log: .none),
            orders: OrderService(
                ledger: ledger, store: lookup, verification: verification, clock: clock,
                log: .none),
            support: SupportReader(store: store),
            intake: try .test(store, authority, bell, metrics, clock: clock),
            notifications: NotificationQueue(store: store, bell: bell, clock: clock),
            keys: keys, metrics: metrics, log: .none, clock: clock, isReady: { isReady })
    }
}

extension VerifyReceiptClient {
    /// One that no store answers.
    static func silent(_ workers: WorkerPool) -> VerifyReceiptClient {
        VerifyReceiptClient(
            send: { (_) async throws(HTTPClientError) in throw .timedOut }, pool: workers,
            configuration: VerifyReceiptConfiguration(), clock: .system)
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
