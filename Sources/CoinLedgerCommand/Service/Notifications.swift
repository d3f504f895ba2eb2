import AppStore
import AppStoreConnection
import Base
import CoinLedger
import CoinLedgerService
import EventLoop
import PostgresEventStore
import Telemetry

/// What takes the store's notifications in, on each loop, and what works on them, on the first.
struct Notifications: Sendable {
    private let verification: NotificationVerification
    private let revocation: RevocationCheck?
    private let bell = NotificationBell()
    private let telemetry: NotificationTelemetry
    private let log: Log

    init(
        _ verifier: SignedTransactionVerifier, _ workers: WorkerPool,
        _ revocation: RevocationCheck?, _ metrics: Metrics, _ log: Log
    ) {
        verification = NotificationVerification(verifier: verifier, workers: workers)
        self.revocation = revocation
        telemetry = NotificationTelemetry(metrics)
        self.log = log
    }

    func intake(_ options: ServiceOptions, _ store: PostgresEventStore) -> NotificationIntake {
        let catalogue = options.policy.catalogue
        return NotificationIntake(
            verification: verification, revocation: revocation, store: store,
            apps: NotifiedApps(bundleIDs: { catalogue.bundleIDs }, appIDs: options.appIDs),
            bell: bell, clock: SystemClock.now, telemetry: telemetry, log: log)
    }

    func queue(_ store: PostgresEventStore) -> NotificationQueue {
        NotificationQueue(store: store, bell: bell, clock: SystemClock.now)
    }

    /// Starts to work, with the store of the loop that it's given.
    func worker(
        _ shared: RequestLoop.Shared, _ store: PostgresEventStore, on loop: EventLoop
    ) -> NotificationWorker {
        let (policy, rules) = (shared.options.policy, shared.options.rules)
        let actions = NotificationActions(
            store: store, verification: verification,
            owners: TokenOwners(store: store, clock: SystemClock.now), policy: { policy },
            granter: PurchaseGranter(
                ledger: shared.ledger, policy: { policy }, clock: SystemClock.now,
                telemetry: ReceiptTelemetry(shared.metrics), log: log),
            refunds: RefundService(
                ledger: shared.ledger, policy: { rules.policy }, clock: SystemClock.now, log: log),
            consumption: ConsumptionAnswer(
                store: store, preference: shared.options.refundPreference,
                channel: channel(shared), clock: SystemClock.now, log: log),
            clock: SystemClock.now)
        let processor = NotificationProcessor(
            store: store, actions: actions, bell: bell, executor: loop, clock: SystemClock.now,
            telemetry: telemetry, log: log)
        return NotificationWorker(processor, bell, on: loop)
    }

    /// Nil without a key for the App Store Server API.
    private func channel(_ shared: RequestLoop.Shared) -> ConsumptionAnswer.Channel? {
        guard let api = shared.storeAPI, let bundleID = shared.options.storeAPI?.bundleID else {
            return nil
        }
        return ConsumptionAnswer.Channel(bundleID: bundleID) {
            (information, transaction) async throws(AppStoreServerError) in
            try await api.sendConsumption(
                information, of: transaction.transactionID, in: transaction.environment)
        }
    }
}
