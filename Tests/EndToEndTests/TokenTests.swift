import AppStoreStandIn
import Base
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct `An app account token` {
    private static let token = "2f5c7a3e-9b1d-4c6f-8a2e-0d4b6c8e1f3a"
    private static let otherToken = "7c1e5a90-3d2b-4f68-9a0c-5e4d3c2b1a09"

    @Test func `is linked to one account, for ever, and again is the same`() async throws {
        try await World.run { world throws in
            for _ in 0..<2 {
                let answer = try world.linkToken(Self.token, to: "u1")
                #expect(answer.status == 200)
                #expect(
                    answer.json
                        == ["accountId": "u1", "appAccountToken": .string(Self.token)])
            }
            #expect(try world.linkToken(Self.token.uppercased(), to: "u1").status == 200)
            let other = try world.linkToken(Self.token, to: "u2")
            #expect(other.status == 409)
            #expect(other.code == "token_linked_to_other_account")
            #expect(!other.text.contains("u1"))
            // An account may have several.
            #expect(try world.linkToken(Self.otherToken, to: "u1").status == 200)
            #expect(try world.ledger.count("SELECT count(*) FROM coinledger.events") == 2)
            for token in [Self.token, Self.otherToken] {
                let sale = try world.shop.sell { $0.appAccountToken = token.uppercased() }
                #expect(try world.post(sale).status == 201)
            }
        }
    }

    @Test func `that is linked through two processes at once belongs to one account`() async throws
    {
        try await World.run(services: 2) { world throws in
            let accounts = (0..<20).map { "u\($0)" }
            let world = world
            let answers = try inParallel(20) { index in
                try world.linkToken(
                    Self.token, to: accounts[index], port: world.services[index % 2].port)
            }
            #expect(answers.filter { $0.status == 200 }.count == 1)
            #expect(answers.filter { $0.status == 409 }.count == 19)
        }
    }

    @Test func `that isn't linked keeps the purchase from everybody until it is`() async throws {
        // A receipt doesn't name it, but the store does.
        try await World.run(options: World.remoteReceipts) { world throws in
            let sale = try world.shop.sell { $0.appAccountToken = Self.token }
            for text in [sale.signedTransaction, sale.receipt] {
                let answer = try world.post(text)
                #expect(answer.status == 409)
                #expect(answer.code == "belongs_to_other_account")
                #expect(answer.finish == [sale.transactionID: false])
            }
            #expect(try world.linkToken(Self.token, to: "u1").status == 200)
            #expect(try world.post(sale.receipt).status == 201)
        }
    }

    @Test func `that is an account's own id is its own`() async throws {
        try await World.run { world throws in
            let sale = try world.shop.sell { $0.appAccountToken = Self.token.uppercased() }
            #expect(try world.post(sale, to: "u1").code == "belongs_to_other_account")
            #expect(try world.post(sale, to: Self.token).status == 201)
        }
    }

    @Test(arguments: [
        "", "u1", "2f5c7a3e9b1d4c6f8a2e0d4b6c8e1f3a", "2f5c7a3e-9b1d-4c6f-8a2e-0d4b6c8e1f3g",
    ])
    func `that is no UUID is refused`(text: String) async throws {
        try await World.run { world throws in
            let answer = try world.linkToken(text, to: "u1")
            #expect(answer.status == 400)
            #expect(answer.code == "invalid_body")
            #expect(answer.json["detail"] == "appAccountToken")
        }
    }
}
