import AppStoreConnection
import Base
import CoinLedgerServer
import CoinLedgerService
import EventLoop
import EventStore
import HTTPServer
import Postgres
import PostgresEventStore
import Telemetry

/// An event loop that serves requests, with connections to the database and keys of its own.
///
/// What belongs to it belongs to its thread; loops share the writers, the verification threads and
/// the metrics.
final class RequestLoop: Sendable {
    let loop: EventLoop
    let store: PostgresEventStore
    let server: HTTPServer

    /// What all loops share.
    struct Shared: Sendable {
        let options: ServiceOptions
        let metrics: Metrics
        let ledger: Ledger
        let verification: ReceiptVerification
        let notifications: Notifications
        /// Nil without a key for it.
        let storeAPI: AppStoreServerClient?
    }

    init(_ shared: Shared, _ store: PostgresEventStore, on loop: EventLoop) {
        self.loop = loop
        self.store = store
        let (options, metrics, log) = (shared.options, shared.metrics, shared.options.log)
        let ledger = shared.ledger.reading(from: store)
        let (policy, rules) = (options.policy, options.rules)
        let telemetry = ReceiptTelemetry(metrics)
        let granter = PurchaseGranter(
            ledger: ledger, policy: { policy }, clock: SystemClock.now, telemetry: telemetry,
            log: log)
        let lookup = shared.storeAPI.map { StoreLookup($0) }
        let app = CoinLedgerApp(
            .init(
                ledger: ledger,
                receipts: ReceiptService(
                    granter: granter,
                    attempts: AttemptRecorder(
                        store: store, keepsReceipts: options.keepsRejectedReceipts,
                        metrics: metrics, log: log),
                    verification: shared.verification, clock: SystemClock.now,
                    telemetry: telemetry, log: log),
                balances: BalanceReader(store: store, executor: loop, clock: SystemClock.now),
                rules: { rules },
                refunds: RefundService(
                    ledger: ledger, policy: { rules.policy }, clock: SystemClock.now, log: log),
                history: AccountHistory(store: store), purchases: PurchaseReader(store: store),
                redeliveries: RedeliveryService(
                    ledger: ledger, granter: granter,
                    owners: TokenOwners(store: store, clock: SystemClock.now), store: lookup,
                    verification: shared.verification, clock: SystemClock.now, log: log),
                orders: OrderService(
                    ledger: ledger, store: lookup, verification: shared.verification,
                    clock: SystemClock.now, log: log),
                support: SupportReader(store: store),
                intake: shared.notifications.intake(options, store),
                notifications: shared.notifications.queue(store),
                keys: KeyRing(store: store, now: { EventLoop.now() }),
                metrics: metrics, log: log, clock: SystemClock.now,
                isReady: { await store.isWritable() }))
        server = HTTPServer(
            configuration: HTTPServerConfiguration(
                address: options.listen.address, port: options.listen.port,
                limits: HTTPLimits.api.divided(among: options.httpLoops),
                refusal: { HTTPResponse($0) }),
            loop: loop, log: log, handler: { await app.respond(to: $0) })
    }

    /// Starts one on a thread of its own, ready for connections from another's server.
    static func start(
        _ shared: Shared, database: PostgresConfiguration
    ) async throws -> RequestLoop {
        let loop = EventLoop()
        Base.Thread.start { loop.run() }
        let started: Result<RequestLoop, any Error> = await loop.task {
            do {
                let log = shared.options.log
                let store = try await PostgresEventStore.open(database, on: loop, log: log)
                let started = RequestLoop(shared, store, on: loop)
                try started.server.open()
                return .success(started)
            } catch {
                loop.stop()
                return .failure(error)
            }
        }.value
        return try started.get()
    }

    /// Finishes what was accepted, and refuses what isn't finished in time.
    func drain(milliseconds: Int64) async {
        await loop.task { [server] in await server.drain(milliseconds: milliseconds) }.value
    }

    /// Lets everything go, and ends the thread that `start` has started.
    func stop() async {
        await loop.task { [store, loop] in
            store.close()
            loop.stop()
        }.value
    }
}
