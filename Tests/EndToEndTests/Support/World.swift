import AppStoreStandIn
import Base
import CoinLedgerServer
import PrivatePostgres
import TestSupport
import Testing

/// Everything one test needs: a shop, a ledger, and services that serve it.
struct World: Sendable {
    let shop: Shop
    let ledger: LedgerDatabase
    let folder: TemporaryFolder
    let services: [ServiceProcess]
    private let options: [String]
    /// What is asked in place of the shop about app receipts.
    private let verifierURL: String?
    private let environment: [String: String]
    /// Whether services have the key for the shop's Server API.
    private let hasStoreAPI: Bool

    static let catalogue = """
        {"version": "test-1", "bundleIds": ["com.nonchalant"], "products": [
          {"productId": "coins100", "paid": 100},
          {"productId": "coins500", "paid": 500},
          {"productId": "com.nonchalant.consumable1", "paid": 100, "bonus": 10},
          {"productId": "coins90_old", "paid": 90, "validUntil": "2020-01-01T00:00:00Z"}
        ], "stamps": [{"stampId": "heart", "coins": 30}]}
        """

    /// Has the store asked about app receipts.
    static let remoteReceipts = ["--receipt-verification", "remote"]

    /// `with`, on a thread that nobody else needs.
    static func run(
        services count: Int = 1, options: [String] = [], environment: [String: String] = [:],
        storeAPI: Bool = false,
        roots: @escaping @Sendable (Shop) -> String = { $0.store.authority.rootsPEM },
        _ body: @escaping @Sendable (World) throws -> Void
    ) async throws {
        try await blocking {
            try with(
                services: count, options: options, environment: environment, storeAPI: storeAPI,
                roots: roots, body)
        }
    }

    /// Runs `body` with `services` fresh processes on one fresh database, stops them, and checks
    /// that they stop as they should and leave a ledger in which everything adds up.
    static func with(
        services count: Int = 1, options: [String] = [], environment: [String: String] = [:],
        storeAPI: Bool = false, shop makeShop: () throws -> Shop = { try Shop() },
        verifierURL: String? = nil,
        ledger makeLedger: () throws -> LedgerDatabase = LedgerDatabase.create,
        roots: (Shop) -> String = { $0.store.authority.rootsPEM },
        _ body: (World) throws -> Void
    ) throws {
        let folder = try TemporaryFolder()
        let shop = try makeShop()
        defer {
            shop.close()
            folder.remove()
        }
        try write(catalogue, to: folder.path + "/catalogue.json")
        try write(roots(shop), to: folder.path + "/root.pem")
        try write(shop.store.apiKey.key.pem, to: folder.path + "/api-key.p8")
        let ledger = try makeLedger()
        var world = World(
            shop: shop, ledger: ledger, folder: folder, services: [], options: options,
            verifierURL: verifierURL, environment: environment, hasStoreAPI: storeAPI)
        var services: [ServiceProcess] = []
        defer { for service in services where service.isRunning { service.kill() } }
        for _ in 0..<count { services.append(try world.startService()) }
        world = World(
            shop: shop, ledger: ledger, folder: folder, services: services, options: options,
            verifierURL: verifierURL, environment: environment, hasStoreAPI: storeAPI)
        try body(world)
        for service in services where service.isRunning {
            #expect(service.stop() == .code(0), "\(service.output.suffix(2000))")
        }
        #expect(try LedgerChecks.findings(ledger.adminURL) == [])
    }

    /// The options that every service of this world gets.
    var serveOptions: [String] {
        let verifier = verifierURL ?? shop.url
        return [
            "--catalogue", folder.path + "/catalogue.json", "--app-store-root",
            folder.path + "/root.pem", "--allow-private-root", "--verify-receipt-url",
            verifier + "/verifyReceipt", "--verify-receipt-sandbox-url",
            verifier + "/sandbox/verifyReceipt",
        ] + (hasStoreAPI ? storeAPIOptions : []) + options
    }

    private var storeAPIOptions: [String] {
        let key = shop.store.apiKey
        return [
            "--app-store-key", folder.path + "/api-key.p8", "--app-store-key-id", key.keyID,
            "--app-store-issuer-id", key.issuerID, "--app-store-api-url", shop.url,
            "--app-store-api-sandbox-url", shop.url + "/sandbox",
        ]
    }

    /// Starts one more service on the same database.
    ///
    /// - Parameter daysAhead: how far its clock is from the machine's.
    func startService(
        databaseURL: String? = nil, daysAhead: Int? = nil
    ) throws -> ServiceProcess {
        var environment = environment
        environment["COINLEDGER_DATABASE_URL"] = databaseURL ?? ledger.serviceURL
        if let daysAhead {
            environment["LD_PRELOAD"] = "/usr/$LIB/faketime/libfaketimeMT.so.1"
            environment["FAKETIME"] = "+\(daysAhead)d"
            environment["FAKETIME_DONT_FAKE_MONOTONIC"] = "1"
        }
        return try ServiceProcess.start(
            serveOptions, environment: environment,
            log: "\(folder.path)/service-\(UInt32.random(in: .min ... .max)).log")
    }

    var port: UInt16 { services.first?.port ?? 0 }

    /// Asks once, and expects that the answer is one that the API's document promises.
    func ask(_ question: HTTPQuestion, port: UInt16? = nil) throws -> HTTPAnswer {
        let answer = try HTTPConnection(port: port ?? self.port).ask(question)
        let findings = World.contract.findings(question.method, question.path, answer)
        #expect(findings == [], "\(question.method) \(question.path): \(answer.text)")
        return answer
    }

    private static let contract = OpenAPIContract(
        (try? JSON.parse(OpenAPIDocument.bytes)) ?? .null)

    func get(_ path: String, key: String? = nil) throws -> HTTPAnswer {
        try ask(
            HTTPQuestion(
                "GET", path,
                headers: [("Authorization", "Bearer \(key ?? ledger.keys.backend)")]))
    }

    /// The request that posts a receipt.
    func posting(_ receipt: String, to account: String) -> HTTPQuestion {
        let body: JSON = ["receipt": .string(receipt)]
        return posting(body: body.bytes, to: account)
    }

    func posting(body: [UInt8], to account: String) -> HTTPQuestion {
        HTTPQuestion(
            "POST", "/v1/accounts/\(account)/receipts",
            headers: [
                ("Authorization", "Bearer \(ledger.keys.backend)"),
                ("Content-Type", "application/json"),
            ], body: body)
    }

    func post(_ receipt: String, to account: String = "u1") throws -> HTTPAnswer {
        try ask(posting(receipt, to: account))
    }

    func post(_ sale: StandInSale, to account: String = "u1") throws -> HTTPAnswer {
        try post(sale.signedTransaction, to: account)
    }

    /// The request that carries out a command on an account.
    func commanding(
        _ path: String, _ body: JSON, of account: String = "u1", key: String
    ) -> HTTPQuestion {
        HTTPQuestion(
            "POST", "/v1/accounts/\(account)/\(path)",
            headers: [
                ("Authorization", "Bearer \(ledger.keys.everything)"),
                ("Content-Type", "application/json"), ("Idempotency-Key", key),
            ], body: body.bytes)
    }

    /// Carries it out, with a key of its own unless there is one.
    @discardableResult
    func command(
        _ path: String, _ body: JSON, of account: String = "u1", key: String? = nil
    ) throws -> HTTPAnswer {
        let key = key ?? "k\(UInt64.random(in: .min ... .max))"
        return try ask(commanding(path, body, of: account, key: key))
    }

    func give(_ coins: Int64, to account: String = "u1") throws -> HTTPAnswer {
        try command("grants", ["coins": .integer(coins), "reason": "test"], of: account)
    }

    func balance(_ query: String = "", of account: String = "u1") throws -> JSON {
        try get("/v1/accounts/\(account)/balance\(query)").json
    }

    /// The store's word on a refund, signed so many milliseconds after 1970.
    func refund(
        _ transaction: String, _ type: String = "full", percentage: Int64? = nil, signedAt: Int64
    ) throws -> HTTPAnswer {
        var body = JSONObject([
            .init("transactionId", .string(transaction)), .init("environment", "Production"),
            .init("type", .string(type)), .init("signedDate", .integer(signedAt)),
        ])
        body.append("percentage", percentage.map(JSON.integer))
        return try ask(
            HTTPQuestion(
                "POST", "/v1/refunds",
                headers: [("Authorization", "Bearer \(ledger.keys.everything)")],
                body: JSON.object(body).bytes))
    }

    /// The request that links a token.
    func linking(_ token: String, to account: String) -> HTTPQuestion {
        let body: JSON = ["appAccountToken": .string(token)]
        var question = posting(body: body.bytes, to: account)
        question.method = "PUT"
        question.path = "/v1/accounts/\(account)/app-account-token"
        return question
    }

    func linkToken(
        _ token: String, to account: String, port: UInt16? = nil
    ) throws -> HTTPAnswer {
        try ask(linking(token, to: account), port: port)
    }

    /// Paid and free coins of an account.
    func total(_ account: String = "u1") throws -> Int64? {
        try get("/v1/accounts/\(account)/balance").json["total"]?.integer
    }

    func audit() throws -> Program.Run {
        try Program.run(
            ["audit"], environment: ["COINLEDGER_DATABASE_URL": ledger.serviceURL])
    }
}

extension HTTPAnswer {
    /// What became of each transaction, by its id.
    var outcomes: [String: String] {
        var outcomes: [String: String] = [:]
        for entry in json["transactions"]?.array ?? [] {
            outcomes[entry["transactionId"]?.string ?? ""] = entry["outcome"]?.string
        }
        return outcomes
    }

    /// Whether each transaction may be finished, by its id.
    var finish: [String: Bool] {
        var finish: [String: Bool] = [:]
        for entry in json["transactions"]?.array ?? [] {
            finish[entry["transactionId"]?.string ?? ""] = entry["finish"]?.bool
        }
        return finish
    }

    var isRetryable: Bool? { json["retryable"]?.bool }
}
