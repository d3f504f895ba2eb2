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
    private let server: HTTPServer
    private let store: PostgresEventStore
    private let workers: WorkerPool
    private let client: HTTPClient
    private let projection: ProjectionThread
    private let log: Log
    let port: UInt16

    /// Signatures and receipts waiting for a verification thread.
    private static let waitingVerificationsMax = 8192
    /// From SIGTERM until what was accepted must be answered.
    static let drainMilliseconds: Int64 = 8000

    private init(
        server: HTTPServer, store: PostgresEventStore, workers: WorkerPool, client: HTTPClient,
        projection: ProjectionThread, log: Log
    ) {
        self.server = server
        self.store = store
        self.workers = workers
        self.client = client
        self.projection = projection
        self.log = log
        port = server.port
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
        let store = try await PostgresEventStore.open(database, on: loop, log: log)
        let metrics = Metrics()
        let ledger = ledger(store, metrics, log, loop)
        let workers = WorkerPool(
            threads: options.verificationThreads, jobsMax: waitingVerificationsMax)
        let client = HTTPClient()
        let app = CoinLedgerApp(
            .init(
                ledger: ledger,
                receipts: receipts(options, ledger, workers, client, metrics),
                balances: BalanceReader(store: store, executor: loop),
                keys: KeyRing(store: store, now: { EventLoop.now() }),
                metrics: metrics, log: log, clock: SystemClock.now,
                isReady: { await store.isWritable() }))
        let server = HTTPServer(
            configuration: HTTPServerConfiguration(
                address: options.listen.address, port: options.listen.port,
                refusal: { HTTPResponse($0) }),
            loop: loop, log: log, handler: { await app.respond(to: $0) })
        do throws(HTTPServerError) {
            try server.start()
        } catch {
            throw UsageError(
                "can't listen on \(options.listen.address):\(options.listen.port): \(error)")
        }
        return RunningService(
            server: server, store: store, workers: workers, client: client,
            projection: ProjectionThread(database, log: log), log: log)
    }

    private static func ledger(
        _ store: PostgresEventStore, _ metrics: Metrics, _ log: Log, _ loop: EventLoop
    ) -> Ledger {
        let telemetry = WriterTelemetry(metrics)
        return Ledger(store: store) { lane in
            LedgerWriter(
                lane: lane, store: store, executor: loop, telemetry: telemetry, log: log,
                pause: { await loop.sleep(milliseconds: $0) })
        }
    }

    private static func receipts(
        _ options: ServiceOptions, _ ledger: Ledger, _ workers: WorkerPool, _ client: HTTPClient,
        _ metrics: Metrics
    ) -> ReceiptService {
        let telemetry = ReceiptTelemetry(metrics)
        let policy = options.policy
        let verification = ReceiptVerification(
            verifier: SignedTransactionVerifier(roots: options.roots), workers: workers,
            store: VerifyReceiptClient(
                http: client, pool: workers, configuration: options.receipts),
            telemetry: telemetry)
        return ReceiptService(
            ledger: ledger, policy: { policy }, verification: verification,
            clock: SystemClock.now, telemetry: telemetry, log: options.log)
    }

    /// Finishes what was accepted, refuses the rest, and lets everything go.
    func stop() async {
        log.info("stopping")
        await server.drain(milliseconds: RunningService.drainMilliseconds)
        await projection.stop()
        store.close()
        client.stop()
        workers.stop()
        log.info("stopped")
    }
}
