import AppStoreStandIn
import Base
import PrivatePostgres
import TestSupport
import Testing

/// The rows of the flow's table that end in the ledger, as an app sees them.
@Suite(.timeLimit(.minutes(15))) struct `The purchase flow` {
    @Test func `row 7: a purchase is granted, and its answer says what the app needs`() async throws
    {
        try await World.run { world throws in
            let sale = try world.shop.sell("com.nonchalant.consumable1") {
                $0.transactionID = "1000000551439498"
            }
            let answer = try world.post(sale)
            #expect(answer.status == 201)
            #expect(answer["Content-Type"] == "application/json")
            let event = try #require(answer.json["transactions"]?.array?.first?["eventId"])
            let expiry = try #require(answer.json["balance"]?["nextExpiry"])
            #expect(expiry.string?.hasSuffix("T15:00:00.000Z") == true)
            #expect(
                answer.json == [
                    "accountId": "u1",
                    "transactions": [
                        [
                            "transactionId": "1000000551439498",
                            "productId": "com.nonchalant.consumable1",
                            "environment": "Production", "outcome": "granted",
                            "coins": ["paid": 100, "free": 10], "finish": true, "eventId": event,
                        ]
                    ],
                    "balance": [
                        "version": 2, "paid": 100, "free": 10, "total": 110, "available": 110,
                        "held": 0, "debt": 0, "nextExpiry": expiry,
                    ],
                ])
        }
    }

    @Test func `rows 8 and 9: a request lost on the way grants nothing, its retry does`()
        async throws
    {
        try await World.run { world throws in
            let sale = try world.shop.sell()
            let bytes = world.posting(sale.signedTransaction, to: "u1").bytes
            for count in [20, bytes.count / 2, bytes.count - 1] {
                // Closed as soon as it's sent.
                try HTTPConnection(port: world.port).send(Array(bytes[..<count]))
            }
            #expect(try world.total() == 0)
            #expect(try world.post(sale).status == 201)
            #expect(try world.total() == 100)
        }
    }

    @Test func `row 10: a crash before anything was kept leaves the purchase to its retry`()
        async throws
    {
        try await World.run(options: World.remoteReceipts) { world throws in
            world.shop.failVerification(.none, delayMilliseconds: 30_000)
            let sale = try world.shop.sell()
            let connection = try HTTPConnection(port: world.port)
            try connection.send(world.posting(sale.receipt, to: "u1").bytes)
            let isAsking = eventually { world.shop.pendingFaults == 0 ? true : nil }
            #expect(isAsking == true)
            world.services[0].kill()
            #expect((try? connection.answer()) == nil)
            try withService(of: world) { port throws in
                let answer = try world.ask(world.posting(sale.receipt, to: "u1"), port: port)
                #expect(answer.status == 201)
            }
        }
    }

    @Test func `row 12: what was granted after the client had given up is told by 409`()
        async throws
    {
        try await World.run(options: World.remoteReceipts) { world throws in
            world.shop.failVerification(.none, delayMilliseconds: 300)
            let sale = try world.shop.sell()
            do {
                let connection = try HTTPConnection(port: world.port)
                try connection.send(world.posting(sale.receipt, to: "u1").bytes)
                let isAsking = eventually { world.shop.pendingFaults == 0 ? true : nil }
                #expect(isAsking == true)
            }
            let isGranted = try eventually { try world.total() == 100 ? true : nil }
            #expect(isGranted == true)
            let retry = try world.post(sale.receipt)
            #expect(retry.status == 409)
            #expect(retry.code == "already_granted")
            #expect(retry.finish == [sale.transactionID: true])
            #expect(try world.total() == 100)
        }
    }

    @Test func `row 13: a crash before the commit leaves the purchase to its retry`() async throws {
        try await World.run { world throws in
            let sale = try world.shop.sell()
            try postIntoLockedLanes(sale, world) {
                world.services[0].kill()
                try world.ledger.endSessions()
            }
            try withService(of: world) { port throws in
                let question = world.posting(sale.signedTransaction, to: "u1")
                #expect(try world.ask(question, port: port).status == 201)
                #expect(try world.ask(question, port: port).status == 409)
            }
        }
    }

    @Test func `row 14: a crash between commit and answer is told by 409`() async throws {
        try await World.run { world throws in
            let sale = try world.shop.sell()
            try postIntoLockedLanes(sale, world) { world.services[0].kill() }
            let isGranted = try eventually {
                try world.ledger.count("SELECT count(*) FROM coinledger.purchases") == 1
                    ? true : nil
            }
            #expect(isGranted == true)
            try withService(of: world) { port throws in
                let question = world.posting(sale.signedTransaction, to: "u1")
                let retry = try world.ask(question, port: port)
                #expect(retry.status == 409)
                #expect(retry.finish == [sale.transactionID: true])
            }
        }
    }

    @Test func `rows 15 and 16: whoever posts again is told the same grant and finishes`()
        async throws
    {
        try await World.run { world throws in
            let sale = try world.shop.sell("com.nonchalant.consumable1")
            let first = try world.post(sale)
            for _ in 0..<3 {
                let again = try world.post(sale)
                #expect(again.status == 409)
                #expect(again["Content-Type"] == "application/problem+json")
                #expect(again.code == "already_granted")
                #expect(again.isRetryable == false)
                #expect(again.json["balance"] == first.json["balance"])
                let entry = again.json["transactions"]?.array?.first
                let granted = first.json["transactions"]?.array?.first
                #expect(entry?["outcome"] == "already_granted")
                #expect(entry?["eventId"] == granted?["eventId"])
                #expect(entry?["coins"] == ["paid": 100, "free": 10])
                #expect(entry?["finish"] == true)
            }
        }
    }

    @Test func `row 18: two posts at once make one grant, and both may finish`() async throws {
        try await World.run { world throws in
            let sale = try world.shop.sell()
            let answers = try askAtOnce(
                [world.port, world.port], world.posting(sale.signedTransaction, to: "u1"))
            #expect(answers.map(\.status).sorted() == [201, 409])
            #expect(answers.allSatisfy { $0.finish == [sale.transactionID: true] })
            #expect(try world.total() == 100)
        }
    }

    @Test func `rows 19 and 20: a receipt grants all it holds, each transaction once`() async throws
    {
        try await World.run { world throws in
            let first = try world.shop.sell("coins100")
            #expect(try world.post(first.receipt).outcomes == [first.transactionID: "granted"])
            let second = try world.shop.sell("coins500")
            let third = try world.shop.sell("coins100")
            let answer = try world.post(third.receipt)
            #expect(answer.status == 201)
            #expect(
                answer.outcomes == [
                    first.transactionID: "already_granted", second.transactionID: "granted",
                    third.transactionID: "granted",
                ])
            #expect(Set(answer.finish.values) == [true])
            #expect(try world.total() == 700)
        }
    }

    @Test func `row 21: a stale receipt asks for a fresh one and finishes nothing`() async throws {
        try await World.run { world throws in
            let stale = try world.post(world.shop.store.receipt())
            #expect(stale.status == 422)
            #expect(stale.code == "transaction_not_in_receipt")
            #expect(stale.isRetryable == true)
            #expect(stale.json["finish"] == false)
            #expect(try world.post(world.shop.sell().receipt).status == 201)
        }
    }

    @Test func `row 24: without a key nothing happens, and after logging in it does`() async throws
    {
        try await World.run { world throws in
            let sale = try world.shop.sell()
            var question = world.posting(sale.signedTransaction, to: "u1")
            let authorized = question
            question.headers.removeAll { $0.name == "Authorization" }
            let answer = try world.ask(question)
            #expect(answer.status == 401)
            #expect(answer["WWW-Authenticate"] == "Bearer")
            #expect(try world.total() == 0)
            #expect(try world.ask(authorized).status == 201)
        }
    }

    @Test func `row 25: a purchase that bears a token waits for the token's account`() async throws
    {
        let token = "2f5c7a3e-9b1d-4c6f-8a2e-0d4b6c8e1f3a"
        try await World.run { world throws in
            #expect(try world.linkToken(token, to: "u1").status == 200)
            let sale = try world.shop.sell { $0.appAccountToken = token }
            let other = try world.post(sale, to: "u2")
            #expect(other.status == 409)
            #expect(other.code == "belongs_to_other_account")
            #expect(other.finish == [sale.transactionID: false])
            #expect(!other.text.contains("u1"))
            #expect(try world.total("u2") == 0)
            #expect(try world.post(sale, to: "u1").status == 201)
            let late = try world.post(sale, to: "u2")
            #expect(late.code == "granted_to_other_account")
            #expect(late.finish == [sale.transactionID: true])
        }
    }

    @Test func `row 26: a purchase without a token goes to whoever posts it`() async throws {
        try await World.run { world throws in
            _ = try world.linkToken("2f5c7a3e-9b1d-4c6f-8a2e-0d4b6c8e1f3a", to: "u1")
            #expect(try world.post(world.shop.sell(), to: "u2").status == 201)
            #expect(try world.total("u2") == 100)
        }
    }

    @Test func `row 27: a purchase of somebody else may be finished and tells nothing`()
        async throws
    {
        try await World.run { world throws in
            let sale = try world.shop.sell()
            #expect(try world.post(sale, to: "first-account").status == 201)
            let answer = try world.post(sale, to: "u2")
            #expect(answer.status == 409)
            #expect(answer.code == "granted_to_other_account")
            #expect(answer.isRetryable == false)
            #expect(answer.finish == [sale.transactionID: true])
            #expect(!answer.text.contains("first-account"))
            #expect(!answer.text.contains("eventId"))
            #expect(!answer.text.contains("\"coins\""))
            #expect(try world.total("u2") == 0)
        }
    }

    @Test func `row 48: a purchase dated in the future is granted and counted`() async throws {
        try await World.run { world throws in
            let sale = try world.shop.sell(payload: [
                "purchaseDate": .integer(Shop.now() + 3_600_000)
            ])
            #expect(try world.post(sale).status == 201)
            #expect(
                try world.get("/metrics").text.contains("coinledger_future_purchases_total 1\n"))
        }
    }

    @Test func `row 49: an unknown product waits for the catalogue`() async throws {
        try await World.run { world throws in
            let sale = try world.shop.sell("coins1000")
            for _ in 0..<2 {
                let answer = try world.post(sale)
                #expect(answer.status == 422)
                #expect(answer.code == "unknown_product")
                #expect(answer.isRetryable == true)
                #expect(answer.finish == [sale.transactionID: false])
            }
            #expect(
                try world.ledger.rows(
                    "SELECT transaction_id, code, product_id, account, attempts "
                        + "FROM coinledger.purchase_attempts")
                    == [[sale.transactionID, "unknown_product", "coins1000", "u1", "2"]])
            try write(
                """
                {"version": "test-2", "bundleIds": ["com.nonchalant"],
                 "products": [{"productId": "coins1000", "paid": 1000}]}
                """, to: world.folder.path + "/catalogue.json")
            try withService(of: world) { port throws in
                let question = world.posting(sale.signedTransaction, to: "u1")
                #expect(try world.ask(question, port: port).status == 201)
            }
            #expect(try world.total() == 1000)
        }
    }

    /// Posts `sale` while no lane can be appended to, calls `body` once the service waits for
    /// that, and lets go.
    private func postIntoLockedLanes(
        _ sale: StandInSale, _ world: World, _ body: () throws -> Void
    ) throws {
        let holder = try BlockingSession(world.ledger.adminURL)
        try holder.run("BEGIN")
        try holder.run("SELECT FROM coinledger.lanes FOR UPDATE")
        let connection = try HTTPConnection(port: world.port)
        try connection.send(world.posting(sale.signedTransaction, to: "u1").bytes)
        let isWaiting = try eventually {
            try world.ledger.count(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                    + "AND wait_event_type = 'Lock'") == 1 ? true : nil
        }
        #expect(isWaiting == true)
        try body()
        try holder.run("ROLLBACK")
        #expect((try? connection.answer()) == nil)
    }
}

/// Runs `body` with one more service of `world`, which is stopped and must stop as it should.
func withService(
    of world: World, daysAhead: Int? = nil, _ body: (UInt16) throws -> Void
) throws {
    let service = try world.startService(daysAhead: daysAhead)
    defer { service.kill() }
    try body(service.port)
    #expect(service.stop() == .code(0))
}

/// Sends one request on connections of their own to each of `ports`, and only then reads answers.
func askAtOnce(_ ports: [UInt16], _ question: HTTPQuestion) throws -> [HTTPAnswer] {
    try askAtOnce(ports.map { ($0, question) })
}

func askAtOnce(_ questions: [(port: UInt16, question: HTTPQuestion)]) throws -> [HTTPAnswer] {
    let connections = try questions.map { try HTTPConnection(port: $0.port) }
    for (connection, question) in zip(connections, questions) {
        try connection.send(question.question.bytes)
    }
    return try connections.map { try $0.answer() }
}
