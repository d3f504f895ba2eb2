import AppStoreStandIn
import Base
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct `A burst of notifications` {
    private static let count = isSoak ? 10_000 : 1000

    @Test func `through two services on one queue is taken in fast and worked off once`()
        async throws
    {
        try await World.run(services: 2) { world throws in
            for account in 0..<10 {
                let token = "e4e0b18b-0000-4000-8000-00000000000\(account)"
                _ = try world.linkToken(token, to: "u\(account)")
            }
            var requests: [[UInt8]] = []
            for index in 0..<Self.count {
                let sale = try world.shop.sell {
                    $0.appAccountToken = "e4e0b18b-0000-4000-8000-00000000000\(index % 10)"
                }
                let signed = try world.shop.store.notification(
                    "ONE_TIME_CHARGE", of: sale.transactionID)
                requests.append(world.notifying(signed).bytes)
            }
            // Every fifth comes twice.
            requests += stride(from: 0, to: Self.count, by: 5).map { requests[$0] }
            requests.shuffle()
            let half = requests.count / 2
            let parts = [Array(requests[..<half]), Array(requests[half...])]
            let ports = world.services.map(\.port)
            let begin = monotonicSeconds()
            let answers = try inParallel(2) { side in
                try Pipeline.answers(ports[side], parts[side], connections: 16)
            }.flatMap(\.self)
            let seconds = monotonicSeconds() - begin
            #expect(answers.count == requests.count)
            #expect(answers.allSatisfy { $0.status == 200 })
            let accepted = answers.count { $0.json["outcome"] == "accepted" }
            #expect(accepted == Self.count)
            #expect(try world.isSettled(within: 120))
            let settledSeconds = monotonicSeconds() - begin
            Attachment.record(
                "\(requests.count) in \(seconds) s, worked off in \(settledSeconds) s",
                named: "burst.txt")
            for account in 0..<10 {
                #expect(try world.total("u\(account)") == Int64(Self.count) * 10)
            }
            let outcomes = try world.ledger.rows(
                "SELECT outcome, count(*) FROM coinledger.store_notifications GROUP BY outcome")
            #expect(outcomes == [["granted", "\(Self.count)"]])
        }
    }
}
