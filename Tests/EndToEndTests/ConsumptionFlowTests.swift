import AppStoreStandIn
import Base
import PrivatePostgres
import TestSupport
import Testing

/// Row 41 of the flow's table: the store asks how much of a purchase was used.
@Suite(.timeLimit(.minutes(15))) struct `The store's question about consumption` {
    /// Runs `body` with a service that has a key for the App Store Server API.
    private func withService(
        _ options: [String] = [], _ body: @escaping @Sendable (World, ServiceProcess) throws -> Void
    ) async throws {
        try await blocking {
            try World.with(services: 0) { world throws in
                let key = world.shop.store.apiKey
                let path = world.folder.path + "/service-key.p8"
                try write(key.key.pem, to: path)
                let service = try ServiceProcess.start(
                    world.serveOptions + [
                        "--app-store-key", path, "--app-store-key-id", key.keyID,
                        "--app-store-issuer-id", key.issuerID, "--app-store-api-url",
                        world.shop.url, "--app-store-api-sandbox-url", world.shop.url + "/sandbox",
                    ] + options,
                    environment: ["COINLEDGER_DATABASE_URL": world.ledger.serviceURL],
                    log: world.folder.path + "/service.log")
                defer { if service.isRunning { service.kill() } }
                try body(world, service)
                #expect(service.stop() == .code(0))
            }
        }
    }

    private func consent(
        _ world: World, _ service: ServiceProcess, _ consented: Bool
    ) throws -> Int {
        let body: JSON = ["consented": .bool(consented)]
        var question = world.posting(body: body.bytes, to: "u1")
        question.method = "PUT"
        question.path = "/v1/accounts/u1/consent"
        return try world.ask(question, port: service.port).status
    }

    /// Buys for u1, and spends 30 of its 100 coins.
    private func buyAndSpend(_ world: World, _ service: ServiceProcess) throws -> StandInSale {
        let sale = try world.shop.sell()
        let post = world.posting(sale.signedTransaction, to: "u1")
        #expect(try world.ask(post, port: service.port).status == 201)
        let spend = world.commanding(
            "spends", ["coins": 30, "purpose": "x"], key: "spend-\(sale.transactionID)")
        #expect(try world.ask(spend, port: service.port).status == 201)
        return sale
    }

    private func ask(
        _ world: World, _ service: ServiceProcess, _ sale: StandInSale
    ) throws -> String? {
        let request = try world.shop.store.requestConsumption(sale.transactionID, notify: false)
        #expect(try world.deliver(request, port: service.port).status == 200)
        return try world.settledOutcome()
    }

    @Test func `is answered with what was spent, once, if the customer has consented`()
        async throws
    {
        try await withService(["--refund-preference", "grant-prorated"]) { world, service in
            let sale = try buyAndSpend(world, service)
            #expect(try ask(world, service, sale) == "no_consent")
            #expect(try consent(world, service, true) == 200)
            #expect(try ask(world, service, sale) == "consumption_sent")
            let answers = try world.shop.store.consumption(of: sale.transactionID)
            #expect(answers.count == 1)
            #expect(answers.latest?["consumptionPercentage"] == 30_000)
            #expect(answers.latest?["refundPreference"] == "GRANT_PRORATED")
            #expect(answers.latest?["customerConsented"] == true)
            #expect(answers.latest?["deliveryStatus"] == "DELIVERED")
            #expect(try consent(world, service, false) == 200)
            #expect(try ask(world, service, sale) == "no_consent")
            #expect(
                try world.ledger.rows("SELECT paid FROM coinledger.accounts WHERE account = 'u1'")
                    == [["70"]])
        }
    }

    @Test func `comes twice at the same time, and is answered once`() async throws {
        try await withService { world, service in
            let sale = try buyAndSpend(world, service)
            #expect(try consent(world, service, true) == 200)
            let request = world.notifying(
                try world.shop.store.requestConsumption(sale.transactionID, notify: false))
            let answers = try askAtOnce(Array(repeating: service.port, count: 6), request)
            #expect(answers.allSatisfy { $0.status == 200 })
            #expect(try world.settledOutcome() == "consumption_sent")
            #expect(
                try world.shop.store.consumption(of: sale.transactionID).count == 1)
        }
    }

    @Test func `isn't answered without a key, and the reason is kept`() async throws {
        try await World.run { world throws in
            let sale = try world.shop.sell()
            _ = try world.post(sale)
            let request = try world.shop.store.requestConsumption(
                sale.transactionID, notify: false)
            #expect(try world.deliverAndSettle(request) == "not_configured")
        }
    }
}
