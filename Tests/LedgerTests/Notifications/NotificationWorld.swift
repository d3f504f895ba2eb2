import AppStore
import AppStoreConnection
import AppStoreStandIn
import Base
import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import LedgerTestSupport
import Telemetry
import TestSupport
import Testing

/// An App Store and a ledger that hears of it, at an instant that the test chooses.
final class NotificationWorld: Sendable {
    typealias Store = any NotificationActions.Store

    let shop: StandInStore
    let store: Store
    /// What the ledger's writers write to.
    let scripted: ScriptedStore
    let ledger: Ledger
    let granter: PurchaseGranter
    private let verifier: SignedTransactionVerifier
    let intake: NotificationIntake
    let queue: NotificationQueue
    let processor: NotificationProcessor
    let bell = NotificationBell()
    private let time: Lock<Timestamp>
    private let products: Lock<[String]>
    private let sent: Lock<[ConsumptionInformation]>
    private let storeError: Lock<AppStoreServerError?>
    private let workers: WorkerPool

    struct Options: Sendable {
        var sandbox = SandboxPolicy.separate
        var appIDs: Set<Int64> = []
        var preference: ConsumptionInformation.RefundPreference?
        /// Whose purchases the App Store Server API tells of; nil for nobody's.
        var apiBundleID: String? = "com.nonchalant"
    }

    static func run(
        _ kind: StoreKind = .inMemory, _ change: @Sendable (inout Options) -> Void = { _ in },
        _ body: @escaping @Sendable (NotificationWorld) async throws -> Void
    ) async throws {
        var options = Options()
        change(&options)
        let chosen = options
        try await kind.withStore { (store, loop) async throws in
            guard let store = store as? Store else {
                preconditionFailure("both stores keep notifications")
            }
            let world = try NotificationWorld(store, loop, chosen)
            defer { world.workers.stop() }
            try await body(world)
            try await expectSound(store)
        }
    }

    private init(_ store: Store, _ loop: EventLoop, _ options: Options) throws {
        self.store = store
        let time = Lock(Timestamp.noon)
        let clock: @Sendable () -> Timestamp = { time.withLock { $0 } }
        shop = StandInStore(
            authority: NotificationWorld.authority, now: { clock().milliseconds })
        let products = Lock(["coins100"])
        let policy: @Sendable () -> PurchasePolicy = {
            NotificationWorld.policy(products.withLock { $0 }, options.sandbox)
        }
        scripted = ScriptedStore(store)
        let ledger = Ledger(scripted, loop)
        let workers = WorkerPool(threads: 1, jobsMax: 1000)
        let metrics = Metrics()
        let telemetry = NotificationTelemetry(metrics)
        let verifier = SignedTransactionVerifier(
            roots: try RootCertificates(
                files: [NotificationWorld.authority.root.der], allowPrivate: true))
        self.verifier = verifier
        let verification = NotificationVerification(verifier: verifier, workers: workers)
        intake = NotificationIntake(
            verification: verification, store: store,
            apps: NotifiedApps(
                bundleIDs: { policy().catalogue.bundleIDs }, appIDs: options.appIDs),
            bell: bell, clock: clock, telemetry: telemetry, log: .none)
        queue = NotificationQueue(store: store, bell: bell, clock: clock)
        granter = PurchaseGranter(
            ledger: ledger, policy: policy, clock: clock, telemetry: ReceiptTelemetry(metrics),
            log: .none)
        let refundPolicy = LedgerPolicy(
            version: "test", consumption: .freeFirst, freeExpiry: nil, refundShortfall: .debt,
            holdSeconds: 60, holdSecondsMax: 600)
        let sent = Lock<[ConsumptionInformation]>([])
        let storeError = Lock<AppStoreServerError?>(nil)
        let channel = options.apiBundleID.map { bundleID in
            ConsumptionAnswer.Channel(bundleID: bundleID) {
                (information, _) async throws(AppStoreServerError) in
                sent.withLock { $0.append(information) }
                if let error = storeError.withLock({ $0 }) { throw error }
            }
        }
        processor = NotificationProcessor(
            store: store,
            actions: NotificationActions(
                store: store, verification: verification,
                owners: TokenOwners(store: store, clock: clock),
                policy: policy, granter: granter,
                refunds: RefundService(
                    ledger: ledger, policy: { refundPolicy }, clock: clock, log: .none),
                consumption: ConsumptionAnswer(
                    store: store, preference: options.preference, channel: channel, clock: clock,
                    log: .none),
                clock: clock),
            bell: bell, executor: loop, clock: clock, telemetry: telemetry, log: .none)
        (self.ledger, self.workers, self.time, self.products) = (ledger, workers, time, products)
        (self.sent, self.storeError) = (sent, storeError)
    }

    private static let authority = StandInAuthority(now: Timestamp.noon.milliseconds / 1000)

    private static func policy(_ products: [String], _ sandbox: SandboxPolicy) -> PurchasePolicy {
        guard
            let catalogue = try? Catalogue(
                version: "test", bundleIDs: ["com.nonchalant"],
                products: products.map {
                    Catalogue.Product(id: $0, coins: GrantedCoins(paid: 100, free: 0))
                })
        else { preconditionFailure("the catalogue is right") }
        return PurchasePolicy(
            catalogue: catalogue, sandbox: sandbox, quantityMax: 10, freeExpiry: nil)
    }

    func setTime(_ now: Timestamp) { time.withLock { $0 = now } }
    func setProducts(_ ids: [String]) { products.withLock { $0 = ids } }
    /// What the App Store Server API says to everything from now on.
    func setStoreError(_ error: AppStoreServerError?) { storeError.withLock { $0 = error } }
    /// What it was told.
    var consumptions: [ConsumptionInformation] { sent.withLock { $0 } }

    /// The id of a new sale.
    func sell(
        _ product: String = "coins100", token: AppAccountToken? = nil,
        _ change: (inout StandInPurchase) -> Void = { _ in }
    ) throws -> String {
        var purchase = StandInPurchase(productID: product)
        purchase.appAccountToken = token?.text
        change(&purchase)
        return try shop.purchase(purchase).transactionID
    }

    /// Takes a notification in, and works until nothing is due.
    @discardableResult
    func deliver(_ signedPayload: String) async throws -> NotificationIntake.Result {
        let result = try await intake.accept(signedPayload)
        await work()
        return result
    }

    @discardableResult
    func notify(
        _ type: String, of id: String? = nil,
        _ change: (inout StandInNotification) -> Void = { _ in }
    ) async throws -> NotificationIntake.Result {
        try await deliver(shop.notification(type, of: id, change))
    }

    /// Works until nothing is due.
    func work() async {
        while await processor.takeUp() > 0 { await processor.finish() }
    }

    /// Posts the sale as an app does.
    func post(_ id: String, to account: AccountID) async throws -> TransactionOutcome {
        try await post(id, to: account, keepingAttemptsIn: store)
    }

    func post(
        _ id: String, to account: AccountID, keepingAttemptsIn attempts: any AttemptStore
    ) async throws -> TransactionOutcome {
        let now = time.withLock { $0 }
        let charge = try verifier.verifyNotification(
            shop.notification("ONE_TIME_CHARGE", of: id), now: now.milliseconds)
        let signed = try #require(charge.notification.signedTransaction)
        let result = try await receipts(attempts).submit(signed, for: account)
        return try #require(result.transactions.first).outcome
    }

    private func receipts(_ attempts: any AttemptStore) throws -> ReceiptService {
        let metrics = Metrics()
        let telemetry = ReceiptTelemetry(metrics)
        let roots = try RootCertificates(
            files: [NotificationWorld.authority.root.der], allowPrivate: true)
        return ReceiptService(
            granter: granter,
            attempts: AttemptRecorder(
                store: attempts, keepsReceipts: false, metrics: metrics, log: .none),
            verification: ReceiptVerification(
                verifier: verifier, receipts: AppReceiptVerifier(roots: roots), workers: workers,
                store: VerifyReceiptClient(
                    send: { (_) async throws(HTTPClientError) in throw .timedOut }, pool: workers,
                    configuration: VerifyReceiptConfiguration(), clock: .system),
                telemetry: telemetry),
            clock: { [time] in time.withLock { $0 } }, telemetry: telemetry, log: .none)
    }

    func link(_ token: AppAccountToken, to account: AccountID) async throws {
        let outcome = try await ledger.submit(
            Command(
                id: .random(), account: account, time: .noon, action: .linkAppAccountToken(token)))
        #expect(outcome.isDone)
        try await queue.tokenWasLinked(token)
    }

    func submit(_ action: Command.Action, of account: AccountID) async throws {
        let outcome = try await ledger.submit(
            Command(id: .random(), account: account, time: time.withLock { $0 }, action: action))
        #expect(outcome.isDone)
    }

    func total(
        _ account: AccountID = "u1", _ environment: Environment = .production
    ) async throws -> Int64 {
        let balance = try await store.account(account)?.balance(at: .noon)
        let sums = environment == .production ? balance?.production : balance?.sandbox
        return (sums?.paid.amount ?? 0) + (sums?.free.amount ?? 0) - (sums?.debt.amount ?? 0)
    }

    /// The newest of a state.
    func last(_ state: NotificationState = .done) async throws -> KeptNotification? {
        try await store.notifications(in: state, after: 0, limit: 1000).last
    }

    /// What has become of the newest one that's done.
    func outcome() async throws -> String? { try await last()?.outcome }
}
