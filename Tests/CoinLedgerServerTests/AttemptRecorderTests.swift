import AppStore
import AppStoreConnection
import AppStoreStandIn
import Base
import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import InMemoryEventStore
import LedgerTestSupport
import Telemetry
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct `A post that grants nothing` {
    private let metrics = Metrics()

    @Test func `is counted and forgotten where many are being kept`() async throws {
        try await onLoop { loop in
            let attempts = HoldingAttempts()
            let service = try service(attempts, loop)
            let max = AttemptRecorder.unprovenWritesMax
            await withTaskGroup { group in
                for _ in 0..<max + 6 {
                    group.addTask { await failure(of: "no receipt", service) }
                }
                // Those for which there is no room are answered without waiting.
                for _ in 0..<6 { #expect(await group.next() == .some("unreadable")) }
                await attempts.release()
                await group.waitForAll()
            }
            #expect(await attempts.recorded.count == max)
            #expect(notKept == 6)
            // There is room again.
            #expect(await failure(of: "no receipt", service) == "unreadable")
            #expect(await attempts.recorded.count == max + 1)
        }
    }

    @Test func `is answered as it would be if nobody can keep it`() async throws {
        try await onLoop { loop in
            let service = try service(FailingStore(error: .unavailable("told to"), key: nil), loop)
            #expect(await failure(of: "no receipt", service) == "unreadable")
            #expect(notKept == 1)
        }
    }

    @Test func `is posted again if it proves something and nobody can keep that`() async throws {
        try await onLoop { loop in
            let service = try service(FailingStore(error: .unavailable("told to"), key: nil), loop)
            let shop = StandInStore(authority: authority, now: { Timestamp.noon.milliseconds })
            let sale = try shop.purchase(StandInPurchase(productID: "coins100"))
            #expect(await failure(of: sale.signedTransaction, service) == "ledger")
            #expect(notKept == 1)
        }
    }

    private var notKept: Int? {
        let lines = metrics.prometheusText().split(separator: "\n")
        let line = lines.first { $0.hasPrefix("coinledger_attempts_not_kept_total") }
        return line?.split(separator: " ").last.flatMap { Int($0) }
    }

    private func service(
        _ attempts: any AttemptStore, _ loop: EventLoop
    ) throws -> ReceiptService {
        let ledger = Ledger.test(InMemoryEventStore(laneCount: 1), on: loop, metrics)
        let telemetry = ReceiptTelemetry(metrics)
        let policy = PurchasePolicy(
            catalogue: try CommandRules.test().catalogue, sandbox: .refuse, quantityMax: 1,
            freeExpiry: nil)
        let roots = try RootCertificates(files: [authority.root.der], allowPrivate: true)
        let workers = WorkerPool(threads: 1, jobsMax: 1000)
        return ReceiptService(
            granter: PurchaseGranter(
                ledger: ledger, policy: { policy }, clock: { .noon }, telemetry: telemetry,
                log: .none),
            attempts: AttemptRecorder(
                store: attempts, keepsReceipts: false, metrics: metrics, log: .none),
            verification: ReceiptVerification(
                verifier: SignedTransactionVerifier(roots: roots),
                receipts: AppReceiptVerifier(roots: roots), workers: workers,
                store: .silent(workers), telemetry: telemetry),
            clock: { .noon }, telemetry: telemetry, log: .none)
    }
}

private let authority = StandInAuthority(now: Timestamp.noon.milliseconds / 1000)

/// What a post is answered, in a word.
private func failure(of receipt: String, _ service: ReceiptService) async -> String {
    do throws(ReceiptError) {
        _ = try await service.submit(receipt, for: "u1")
        return "none"
    } catch {
        switch error {
        case .wrongShape: return "unreadable"
        case .ledgerUnavailable: return "ledger"
        default: return "\(error)"
        }
    }
}

/// Keeps nothing before it's released.
private actor HoldingAttempts: AttemptStore {
    private(set) var recorded: [FailedPost] = []
    private var isHeld = true
    private var held: [CheckedContinuation<Void, Never>] = []

    func release() {
        isHeld = false
        for continuation in held { continuation.resume() }
        held = []
    }

    func record(_ post: FailedPost) async throws(EventStoreError) {
        if isHeld { await withCheckedContinuation { held.append($0) } }
        recorded.append(post)
    }

    func attempts(
        of _: TransactionID, limit _: Int
    ) throws(EventStoreError) -> [KeptAttempt] { [] }

    func attempts(
        of _: AccountID, where _: AttemptFilter, limit _: Int
    ) throws(EventStoreError) -> [KeptAttempt] { [] }

    func forgetAttempts(before _: Timestamp, limit _: Int) throws(EventStoreError) -> Int { 0 }
}
