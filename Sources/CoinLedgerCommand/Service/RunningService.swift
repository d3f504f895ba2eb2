import AppStore
import AppStoreConnection
import Base
import CoinLedger
import CoinLedgerServer
import CoinLedgerService
import EventLoop
import EventStore
import HTTPServer
import Postgres
import PostgresEventStore
import Telemetry

/// The service, wired together and listening. Belongs to its event loop.
final class RunningService: Sendable {
    /// The first is this one's own loop, where writers work and connections are accepted.
    private let first: RequestLoop
    private let others: [RequestLoop]
    private let workers: WorkerPool
    private let client: HTTPClient
    /// Apart from the other one, so that neither part of the store keeps the other waiting.
    private let apiClient: HTTPClient
    private let housekeeping: Housekeeping
    private let notifications: NotificationWorker
    private let log: Log
    let port: UInt16

    /// Signatures and receipts waiting for a verification thread.
    private static let waitingVerificationsMax = 8192
    /// From SIGTERM until what was accepted must be answered.
    static let drainMilliseconds: Int64 = 8000

    private init(
        first: RequestLoop, others: [RequestLoop], workers: WorkerPool, client: HTTPClient,
        apiClient: HTTPClient, housekeeping: Housekeeping, notifications: NotificationWorker,
        log: Log
    ) {
        self.first = first
        self.others = others
        self.workers = workers
        self.client = client
        self.apiClient = apiClient
        self.housekeeping = housekeeping
        self.notifications = notifications
        self.log = log
        port = first.server.port
    }

    static func start(
        _ options: ServiceOptions, database: PostgresConfiguration, on loop: EventLoop
    ) async throws -> RunningService {
        let log = options.log
        for fingerprint in options.roots.privateFingerprints {
            log.warning(
                "private root trusted: whoever has its key can make coins",
                ["root.sha256": fingerprint])
        }
        if options.receiptMode != .remote, !options.roots.hasReceiptRoot {
            log.warning("no root for app receipts: none of them will be believed here")
        }
        let store = try await PostgresEventStore.open(database, on: loop, log: log)
        let metrics = Metrics()
        let workers = WorkerPool(
            threads: options.verificationThreads, jobsMax: waitingVerificationsMax)
        let client = HTTPClient()
        let apiClient = HTTPClient()
        let verifier = SignedTransactionVerifier(roots: options.roots)
        let revocation = revocation(options.revocation, options.roots, client, metrics)
        let shared = RequestLoop.Shared(
            options: options, metrics: metrics, ledger: ledger(store, metrics, log, loop),
            verification: verification(options, verifier, workers, client, revocation, metrics),
            notifications: Notifications(verifier, workers, revocation, metrics, log),
            storeAPI: options.storeAPI.map { storeAPI($0, workers, apiClient) })
        let first = RequestLoop(shared, store, on: loop)
        var others: [RequestLoop] = []
        for _ in 1..<options.httpLoops {
            others.append(try await RequestLoop.start(shared, database: database))
        }
        do throws(HTTPServerError) {
            try first.server.start(with: others.map(\.server))
        } catch {
            throw UsageError(
                "can't listen on \(options.listen.address):\(options.listen.port): \(error)")
        }
        return RunningService(
            first: first, others: others, workers: workers, client: client,
            apiClient: apiClient,
            housekeeping: Housekeeping(
                shared.ledger, store,
                keeping: Housekeeping.Keeping(
                    answerDays: options.answerDays, attemptDays: options.attemptDays,
                    notificationDays: options.notificationDays), on: loop, log: log),
            notifications: shared.notifications.worker(shared, store, on: loop), log: log)
    }

    static func ledger(
        _ store: PostgresEventStore, _ metrics: Metrics, _ log: Log, _ loop: EventLoop
    ) -> Ledger {
        let telemetry = WriterTelemetry(metrics)
        return Ledger(store: store) { lane in
            LedgerWriter(
                lane: lane, store: store, executor: loop, telemetry: telemetry, log: log,
                pause: { await loop.sleep(milliseconds: $0) })
        }
    }

    private static func verification(
        _ options: ServiceOptions, _ verifier: SignedTransactionVerifier, _ workers: WorkerPool,
        _ client: HTTPClient, _ revocation: RevocationCheck?, _ metrics: Metrics
    ) -> ReceiptVerification {
        ReceiptVerification(
            verifier: verifier, receipts: AppReceiptVerifier(roots: options.roots),
            mode: options.receiptMode, workers: workers,
            store: VerifyReceiptClient(
                http: client, pool: workers, configuration: options.receipts),
            revocation: revocation, telemetry: ReceiptTelemetry(metrics))
    }

    /// Nil if nobody is to be asked.
    static func revocation(
        _ configuration: RevocationConfiguration, _ roots: RootCertificates, _ client: HTTPClient,
        _ metrics: Metrics
    ) -> RevocationCheck? {
        guard configuration.mode != .off else { return nil }
        let checker = RevocationChecker(
            configuration: configuration, roots: roots,
            now: { SystemClock.now().milliseconds / 1000 },
            send: { (request) async throws(HTTPClientError) in try await client.send(request) })
        return RevocationCheck(checker, metrics)
    }

    static func storeAPI(
        _ configuration: AppStoreServerConfiguration, _ workers: WorkerPool, _ http: HTTPClient
    ) -> AppStoreServerClient {
        AppStoreServerClient(
            http: http, pool: workers, configuration: configuration,
            wallClock: { SystemClock.now().milliseconds })
    }

    /// Finishes what was accepted, refuses the rest, and lets everything go.
    func stop() async {
        log.info("stopping")
        // Its server accepts for all, and its writers answer all.
        await withTaskGroup { group in
            for served in [first] + others {
                group.addTask { await served.drain(milliseconds: RunningService.drainMilliseconds) }
            }
        }
        await notifications.stop()
        await housekeeping.stop()
        for other in others { await other.stop() }
        first.store.close()
        client.stop()
        apiClient.stop()
        workers.stop()
        log.info("stopped")
    }
}
