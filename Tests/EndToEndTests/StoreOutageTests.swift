import AppStoreStandIn
import Base
import TestSupport
import Testing

/// The store fails in every way it knows, for a while.
@Suite(.timeLimit(.minutes(15))) struct `While the store is away` {
    /// A minute in `scripts/soak`.
    private static let seconds = isSoak ? 60.0 : 3.0
    private static let memoryBytesMax = 150 << 20

    @Test func `posts are answered 503, and all is granted once when it's back`() async throws {
        try await World.run(options: ["--receipt-verification", "remote"]) { world throws in
            let load = Load(world, proof: .appReceipt)
            #expect(load.waitForMore(20))
            let faults: [StandInFault.Effect] = [
                .reset, .status(500), .html(200), .html(503),
                .receiptStatus(21005, isRetryable: nil), .receiptStatus(21105, isRetryable: true),
                .none,
            ]
            let end = monotonicSeconds() + Self.seconds
            var round = 0
            while monotonicSeconds() < end {
                let effect = faults[round % faults.count]
                // Stalls, too.
                let delay: Int64 = effect == .none ? Int64(Self.seconds * 250) : 0
                world.shop.failVerification(effect, times: 20, delayMilliseconds: delay)
                sleepMilliseconds(200)
                round += 1
            }
            #expect(world.services[0].memoryBytesMax < Self.memoryBytesMax)
            world.shop.repair()
            #expect(load.waitForMore(20), "it settles by itself")
            let progress = load.stop()
            #expect(Set(progress.statuses.keys).subtracting([201, 409, 503]) == [])
            #expect(progress.statuses[503, default: 0] > 0)
            let granted = try world.ledger.grantedTransactions()
            #expect(progress.acknowledged.subtracting(granted) == [])
            let coins = try world.ledger.count("SELECT sum(paid) FROM coinledger.accounts")
            #expect(coins == granted.count * 100, "each once")
            #expect(try world.ask(HTTPQuestion("GET", "/readyz")).status == 200)
        }
    }
}
