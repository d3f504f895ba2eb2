import AppStoreStandIn
import Base
import PrivatePostgres
import TestSupport
import Testing

private let token = "e4e0b18b-0000-4000-8000-00000000000a"

@Suite(.timeLimit(.minutes(15))) struct `Killing a service that has taken notifications in` {
    /// A service that can't write the ledger, though it can take notifications in.
    private func withLanesLocked(_ world: World, _ body: () throws -> Void) throws {
        let session = try BlockingSession(world.ledger.adminURL)
        try session.run("BEGIN")
        try session.run("SELECT 1 FROM coinledger.lanes FOR UPDATE")
        try body()
        try session.run("ROLLBACK")
    }

    @Test func `between receipt and effect loses and repeats nothing`() async throws {
        try await World.run { world throws in
            _ = try world.linkToken(token, to: "u1")
            let refunded = try world.shop.sell()
            _ = try world.post(refunded, to: "u2")
            try withLanesLocked(world) {
                // Answered at once, although what they say can't be done now.
                for _ in 0..<10 {
                    let sale = try world.shop.sell { $0.appAccountToken = token }
                    let begin = monotonicSeconds()
                    #expect(
                        try world.notify("ONE_TIME_CHARGE", of: sale.transactionID).status == 200)
                    #expect(monotonicSeconds() - begin < 1)
                }
                try world.deliver(world.shop.store.refund(refunded.transactionID))
                let isTaken = try eventually {
                    try world.ledger.count(
                        "SELECT count(*) FROM coinledger.store_notifications WHERE attempts > 0")
                        == 11 ? true : nil
                }
                #expect(isTaken == true)
                world.services[0].kill()
            }
            #expect(
                try world.ledger.count("SELECT count(*) FROM coinledger.purchases") <= 11)
            let next = try world.startService()
            // Their leases have to end first.
            #expect(try world.isSettled(within: 60))
            let outcomes = try world.ledger.rows(
                """
                SELECT outcome, count(*) FROM coinledger.store_notifications
                GROUP BY outcome ORDER BY outcome
                """)
            // The killed one's last append may have been committed after all.
            #expect(
                outcomes.compactMap(\.first).allSatisfy {
                    ["granted", "already_granted", "refunded", "unchanged"].contains($0)
                })
            #expect(
                try world.ledger.rows(
                    "SELECT account, paid FROM coinledger.accounts ORDER BY account")
                    == [["u1", "1000"], ["u2", "0"]])
            #expect(next.stop() == .code(0))
            #expect(try world.audit().output.hasSuffix(" 0 findings\n"))
        }
    }

    @Test func `and stopping it in good order leaves the rest to the next one`() async throws {
        try await World.run { world throws in
            _ = try world.linkToken(token, to: "u1")
            try withLanesLocked(world) {
                for _ in 0..<10 {
                    let sale = try world.shop.sell { $0.appAccountToken = token }
                    #expect(
                        try world.notify("ONE_TIME_CHARGE", of: sale.transactionID).status == 200)
                }
                #expect(world.services[0].stop() == .code(0))
            }
            let next = try world.startService()
            #expect(try world.isSettled(within: 60))
            #expect(
                try world.ledger.rows("SELECT account, paid FROM coinledger.accounts")
                    == [["u1", "1000"]])
            #expect(next.stop() == .code(0))
        }
    }

    @Test func `several times in a storm of notifications ends as if nothing had happened`()
        async throws
    {
        try await World.run(services: 2) { world throws in
            _ = try world.linkToken(token, to: "u1")
            var signed: [String] = []
            for index in 0..<300 {
                let sale = try world.shop.sell { $0.appAccountToken = token }
                signed.append(
                    try world.shop.store.notification("ONE_TIME_CHARGE", of: sale.transactionID))
                if index.isMultiple(of: 10) {
                    signed.append(try world.shop.store.refund(sale.transactionID))
                }
            }
            signed.shuffle()
            // As the App Store does: again until it's answered 200.
            var left = signed
            for round in 0..<4 {
                let part = left.prefix(100)
                left.removeFirst(part.count)
                for payload in part { try world.deliver(payload, port: world.services[1].port) }
                if round < 3 { try world.ledger.endSessions() }
                for payload in part.prefix(20) { left.append(payload) }
            }
            while let payload = left.popLast() {
                let answer = try world.deliver(payload, port: world.services[1].port)
                if answer.status == 503 { left.append(payload) }
            }
            #expect(try world.isSettled(within: 100))
            #expect(try world.total() == 27_000)
        }
    }
}
