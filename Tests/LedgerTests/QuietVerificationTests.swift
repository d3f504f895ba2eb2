import AppStore
import AppStoreConnection
import AppStoreStandIn
import Base
import CoinLedger
import CoinLedgerService
import EventLoop
import InMemoryEventStore
import LedgerTestSupport
import Telemetry
import TestSupport
import Testing

/// The worker threads of these tests take nothing, so that whatever is handed to them is refused.
@Suite struct `A signed transaction` {
    @Test func `is handed to the worker threads unless its header was verified before`()
        async throws
    {
        try await onLoop { (loop) async throws in
            let desk = try Desk(ScriptedStore(InMemoryEventStore(laneCount: 1)), loop)
            let unknown = try desk.shop.purchase(StandInPurchase(productID: "coins100"))
                .signedTransaction
            #expect(await desk.post(unknown, for: "u1") == "overloaded")
            try desk.learnHeader()
            #expect(await desk.post(unknown, for: "u1") == "granted")
        }
    }

    @Test func `is handed to them while many others are under way`() async throws {
        try await onLoop { (loop) async throws in
            let store = ScriptedStore(InMemoryEventStore(laneCount: 1))
            let desk = try Desk(store, loop)
            try desk.learnHeader()
            let others = try (0..<Desk.underWayMax).map { _ in
                try desk.shop.purchase(StandInPurchase(productID: "coins100")).signedTransaction
            }
            let next = try desk.shop.purchase(StandInPurchase(productID: "coins100"))
                .signedTransaction
            store.hold()
            async let answers = desk.post(others)
            await store.waitUntilHeld()
            await settle()
            #expect(await desk.post(next, for: "u2") == "overloaded")
            store.release()
            #expect(await answers.allSatisfy { $0 == "granted" })
            #expect(await desk.post(next, for: "u2") == "granted")
        }
    }

    /// Takes receipts.
    private final class Desk: Sendable {
        static let underWayMax = 64

        let shop: StandInStore
        private let verifier: SignedTransactionVerifier
        private let service: ReceiptService

        init(_ store: ScriptedStore, _ loop: EventLoop) throws {
            let authority = StandInAuthority(now: Timestamp.noon.milliseconds / 1000)
            shop = StandInStore(authority: authority, now: { Timestamp.noon.milliseconds })
            let roots = try RootCertificates(files: [authority.root.der], allowPrivate: true)
            verifier = SignedTransactionVerifier(roots: roots)
            let telemetry = ReceiptTelemetry(Metrics())
            let workers = WorkerPool(threads: 1, jobsMax: 0)
            let policy = PurchasePolicy(
                catalogue: try Catalogue(
                    version: "test", bundleIDs: ["com.nonchalant"],
                    products: [.init(id: "coins100", coins: GrantedCoins(paid: 100, free: 0))]),
                sandbox: .separate, quantityMax: 1, freeExpiry: nil)
            service = ReceiptService(
                granter: PurchaseGranter(
                    ledger: Ledger(store, loop), policy: { policy }, clock: { .noon },
                    telemetry: telemetry, log: .none),
                attempts: AttemptRecorder(
                    store: InMemoryEventStore(laneCount: 1), keepsReceipts: false,
                    metrics: Metrics(), log: .none),
                verification: ReceiptVerification(
                    verifier: verifier, receipts: AppReceiptVerifier(roots: roots),
                    workers: workers,
                    store: VerifyReceiptClient(
                        send: { (_) async throws(HTTPClientError) in throw .timedOut },
                        pool: workers, configuration: VerifyReceiptConfiguration(),
                        clock: .system),
                    telemetry: telemetry),
                clock: { .noon }, telemetry: telemetry, log: .none)
        }

        /// Has the verifier see a signature of the shop's.
        func learnHeader() throws {
            let signed = try shop.purchase(StandInPurchase(productID: "coins100")).signedTransaction
            _ = try verifier.verify(signed, now: Timestamp.noon.milliseconds)
        }

        /// What becomes of a receipt, in a word.
        func post(_ receipt: String, for account: AccountID) async -> String {
            do throws(ReceiptError) {
                let result = try await service.submit(receipt, for: account)
                return result.transactions.first?.outcome.code ?? "nothing"
            } catch {
                return "\(error)"
            }
        }

        /// Posts all at once.
        func post(_ receipts: [String]) async -> [String] {
            await withTaskGroup(of: String.self) { group in
                for receipt in receipts { group.addTask { await self.post(receipt, for: "u1") } }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
    }
}
