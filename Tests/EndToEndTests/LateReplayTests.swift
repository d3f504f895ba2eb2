import AppStoreStandIn
import Base
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct `A purchase that is posted again` {
    @Test func `after ten years is still known`() async throws {
        try await World.run(services: 0) { world throws in
            let sale = try world.shop.sell()
            try withService(of: world) { port throws in
                let question = world.posting(sale.signedTransaction, to: "u1")
                #expect(try world.ask(question, port: port).status == 201)
            }
            try withService(of: world, daysAhead: 3650) { port throws in
                for proof in [sale.signedTransaction, sale.receipt] {
                    let answer = try world.ask(world.posting(proof, to: "u1"), port: port)
                    #expect(answer.status == 409)
                    #expect(answer.code == "already_granted")
                    #expect(answer.finish == [sale.transactionID: true])
                }
                // Its clock is what it should be: this purchase isn't in its future.
                let later = try world.shop.sell(payload: [
                    "purchaseDate": .integer(Shop.now() + 3649 * 86_400_000),
                    "signedDate": .integer(Shop.now() + 3649 * 86_400_000),
                ])
                let answer = try world.ask(
                    world.posting(later.signedTransaction, to: "u1"), port: port)
                #expect(answer.status == 201)
            }
        }
    }
}
