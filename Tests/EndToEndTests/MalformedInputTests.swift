import AppStoreStandIn
import Base
import PrivatePostgres
import TestSupport
import Testing

/// Whatever bytes come, from clients or from the store: an error, and never a crash, a hang or a
/// grant of something that wasn't signed.
@Suite(.timeLimit(.minutes(15))) struct `Malformed input` {
    static let seed: UInt64 = 0x5EED_C014
    private static let changes = 10_000

    /// Chains that are changed have to be verified anew each time.
    @Sendable private static func fastShop() throws -> Shop { try Shop(authorityCurve: .p256) }

    /// The text with one byte replaced by another.
    private static func changed(
        _ bytes: [UInt8], _ random: inout SeededRandom
    ) -> [UInt8] {
        var bytes = bytes
        let index = Int.random(in: bytes.indices, using: &random)
        bytes[index] ^= UInt8.random(in: 1...255, using: &random)
        return bytes
    }

    @Test func `prefixes and changes of a signed transaction are refused, each of them`()
        async throws
    {
        try await blocking {
            try World.with(shop: Self.fastShop) { world throws in
                let sale = try world.shop.sell("coins500") { $0.transactionID = "never" }
                let text = Array(sale.signedTransaction.utf8)
                var random = SeededRandom(seed: Self.seed)
                var bodies = stride(from: 0, to: text.count, by: 3).map { Array(text[..<$0]) }
                for _ in 0..<Self.changes { bodies.append(Self.changed(text, &random)) }
                let statuses = try Pipeline.ask(
                    world.port,
                    bodies.map { world.posting(body: Self.body($0), to: "u1").bytes })
                #expect(Set(statuses.keys).subtracting([400, 422]) == [], "seed \(Self.seed)")
                #expect(statuses.values.reduce(0, +) == bodies.count)
                try check(world, granted: [])
            }
        }
    }

    /// A body with bytes that may be any, as a client without a JSON library would write it.
    private static func body(_ receipt: [UInt8]) -> [UInt8] {
        Array(#"{"receipt":""#.utf8) + receipt + Array(#""}"#.utf8)
    }

    @Test func `prefixes and changes of a whole request crash and hang nothing`() async throws {
        try await blocking {
            try World.with(shop: Self.fastShop) { world throws in
                let sale = try world.shop.sell { $0.transactionID = "signed" }
                let post = world.posting(sale.signedTransaction, to: "u1").bytes
                let link = world.linking("2f5c7a3e-9b1d-4c6f-8a2e-0d4b6c8e1f3a", to: "u1").bytes
                var random = SeededRandom(seed: Self.seed)
                var requests = stride(from: 0, to: post.count, by: 5).map { Array(post[..<$0]) }
                requests += link.indices.map { Array(link[..<$0]) }
                // Most of a post is its receipt, which the test above changes.
                let changedPosts = isSoak ? Self.changes : Self.changes / 10
                for _ in 0..<changedPosts { requests.append(Self.changed(post, &random)) }
                for _ in changedPosts..<Self.changes {
                    requests.append(Self.changed(link, &random))
                }
                let statuses = try Pipeline.askEachOnItsOwn(world.port, requests)
                // A change of the account, the token or a header's name leaves a request that is right.
                let known: Set<Int> = [
                    0, 200, 201, 400, 401, 404, 405, 408, 409, 413, 414, 417, 422, 431, 501, 505,
                ]
                #expect(Set(statuses.keys).subtracting(known) == [], "seed \(Self.seed)")
                #expect(statuses.values.reduce(0, +) == requests.count)
                #expect(statuses[201, default: 0] <= 1)
                // A request with bytes to spare may be reset before its answer is read.
                let granted = try world.ledger.grantedTransactions()
                #expect(granted == ["signed"] || granted == [] && statuses[201] == nil)
                try check(world, granted: nil)
            }
        }
    }

    @Test func `changes of the store's answer grant nothing it didn't say`() async throws {
        try await blocking {
            let shop = try Shop()
            defer { shop.close() }
            let sale = try shop.sell { ($0.transactionID, $0.quantity) = ("T1", 2) }
            let answer = shop.store.verifyReceipt(sale.receipt, environment: "Production").bytes
            var random = SeededRandom(seed: Self.seed)
            var answers = stride(from: 0, to: answer.count, by: 40).map { Array(answer[..<$0]) }
            // Most of them are asked for four times, with pauses, before they are given up.
            for _ in 0..<(isSoak ? 3000 : 300) {
                answers.append(Self.changed(answer, &random))
            }
            let all = answers
            let verifier = try FixedVerifier { index in index < all.count ? all[index] : [] }
            defer { verifier.close() }
            try World.with(options: World.remoteReceipts, verifierURL: verifier.url) {
                world throws in
                let questions = all.indices.map { index in
                    world.posting(FixedVerifier.receipt(index), to: "u\(index)").bytes
                }
                let found = try Pipeline.answers(world.port, questions, connections: 256)
                for (index, answer) in found.enumerated() {
                    #expect(
                        [201, 409, 422, 503].contains(answer.status), "seed \(Self.seed), \(index)")
                    let said = (try? JSON.parse(all[index]))?["receipt"]?["in_app"]?.array ?? []
                    for (id, outcome) in answer.outcomes where outcome == "granted" {
                        #expect(
                            said.contains { $0["transaction_id"]?.string == id },
                            "seed \(Self.seed), \(index)")
                    }
                }
                #expect(found.contains { $0.status == 201 })
                try check(world, granted: nil)
            }
        }
    }

    /// The service lives, answers and has granted just these; nil where a change may name others.
    private func check(_ world: World, granted: Set<String>?) throws {
        #expect(world.services[0].isRunning)
        #expect(try world.get("/readyz").status == 200)
        if let granted { #expect(try world.ledger.grantedTransactions() == granted) }
        let audit = try world.audit()
        #expect(audit.exit == .code(0), "\(audit.output)")
    }
}
