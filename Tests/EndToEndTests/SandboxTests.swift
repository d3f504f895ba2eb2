import AppStoreStandIn
import Base
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct `Purchases of the sandbox` {
    private func sell(_ world: World) throws -> StandInSale {
        try world.shop.sell { $0.environment = "Sandbox" }
    }

    @Test func `are refused by the policy refuse, and real ones aren't`() async throws {
        try await World.run(options: ["--sandbox", "refuse"]) { world throws in
            let sale = try sell(world)
            for text in [sale.signedTransaction, sale.receipt] {
                let answer = try world.post(text)
                #expect(answer.status == 403)
                #expect(answer.code == "sandbox_refused")
                #expect(answer.finish == [sale.transactionID: false])
            }
            #expect(try world.post(world.shop.sell()).status == 201)
            #expect(try world.total() == 100)
        }
    }

    @Test func `are granted to the listed accounts only by the policy allow-list`() async throws {
        let options = ["--sandbox", "allow-list", "--sandbox-accounts", "tester,u9"]
        try await World.run(options: options) { world throws in
            #expect(try world.post(sell(world), to: "u1").code == "sandbox_refused")
            #expect(try world.post(sell(world), to: "tester").status == 201)
            #expect(try world.post(sell(world), to: "u9").status == 201)
            #expect(try world.total("tester") == 0)
        }
    }

    @Test func `go to a balance of their own by the policy separate`() async throws {
        try await World.run(options: ["--sandbox", "separate"]) { world throws in
            #expect(try world.post(sell(world)).status == 201)
            #expect(try world.post(world.shop.sell("coins500")).status == 201)
            let balance = try world.get("/v1/accounts/u1/balance").json
            #expect(balance["paid"] == 500)
            #expect(balance["total"] == 500)
            #expect(
                balance["sandbox"] == [
                    "paid": 100, "free": 0, "total": 100, "available": 100, "held": 0, "debt": 0,
                    "nextExpiry": nil,
                ])
            #expect(
                try world.ledger.rows("SELECT paid, free, sandbox_paid FROM coinledger.accounts")
                    == [["500", "0", "100"]])
        }
    }
}
