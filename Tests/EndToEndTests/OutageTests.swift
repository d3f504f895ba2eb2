import AppStoreStandIn
import Base
import PrivatePostgres
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct `While the database is away` {
    @Test func `posts are answered 503, and afterwards all is well by itself`() async throws {
        try await World.run { world throws in
            let before = try world.shop.sell()
            #expect(try world.post(before).status == 201)
            let during = try world.shop.sell()
            try world.ledger.close()
            for _ in 0..<3 {
                let answer = try world.post(during)
                #expect(answer.status == 503)
                #expect(answer.code == "ledger_unavailable")
                #expect(answer.isRetryable == true)
                #expect(answer["Retry-After"] == "2")
            }
            #expect(try world.get("/v1/accounts/u1/balance").status == 503)
            #expect(try world.get("/v1/accounts/u1/events").status == 503)
            let token = "2f5c7a3e-9b1d-4c6f-8a2e-0d4b6c8e1f3a"
            #expect(try world.linkToken(token, to: "u1").status == 503)
            #expect(try world.get("/readyz").status == 503)
            #expect(try world.get("/livez").status == 200)
            try world.ledger.reopen()
            #expect(try world.postUntilAnswered(during).status == 201)
            #expect(try world.post(during).status == 409)
            #expect(try world.post(before).status == 409)
            // Every connection comes back in its own time, at the latest after two seconds.
            let isReady = try eventually { try world.get("/readyz").status == 200 ? true : nil }
            #expect(isReady == true)
            #expect(try eventually { try world.total() } == 200)
        }
    }

    @Test func `row 47: a database that takes no writes grants nothing until it does`() async throws
    {
        try await World.run { world throws in
            let sale = try world.shop.sell()
            try world.ledger.setReadOnly(true)
            // The sessions that were ended are found out by the first to use them.
            let answer = try world.post(sale)
            #expect(answer.status == 503)
            #expect(answer["Retry-After"] == "2")
            let isUnready = try eventually { try world.get("/readyz").status == 503 ? true : nil }
            #expect(isUnready == true)
            #expect(try world.post(sale).code == "ledger_unavailable")
            try world.ledger.setReadOnly(false)
            #expect(try world.postUntilAnswered(sale).status == 201)
            #expect(try world.post(sale).status == 409)
        }
    }

    @Test func `the service starts only if it can read the ledger`() async throws {
        try await World.run(services: 0) { world throws in
            try world.ledger.close()
            let run = try Program.run(
                ["serve", "--listen", "127.0.0.1:0"] + world.serveOptions,
                environment: ["COINLEDGER_DATABASE_URL": world.ledger.serviceURL])
            #expect(run.exit == .code(1))
            #expect(run.errorLines.count == 1)
            try world.ledger.reopen()
            try withService(of: world) { port throws in
                #expect(try world.ask(HTTPQuestion("GET", "/readyz"), port: port).status == 200)
            }
        }
    }
}

extension Program.Run {
    /// The lines that aren't of the log.
    var errorLines: [Substring] {
        output.split(separator: "\n").filter { $0.hasPrefix("coinledger ") }
    }
}

extension LedgerDatabase {
    /// Ends the service's sessions and lets it make no new ones.
    fileprivate func close() throws {
        try alter("DATABASE %I CONNECTION LIMIT 0")
        try endSessions()
    }

    fileprivate func reopen() throws { try alter("DATABASE %I CONNECTION LIMIT -1") }

    /// Has the service's sessions be of a database that is a standby, or not any more.
    func setReadOnly(_ isReadOnly: Bool) throws {
        try alter(
            "ROLE \(LedgerDatabase.serviceRole) IN DATABASE %I "
                + "SET default_transaction_read_only = \(isReadOnly)")
        try endSessions()
    }

    private func alter(_ what: String) throws {
        _ = try rows("DO $$ BEGIN EXECUTE format('ALTER \(what)', current_database()); END; $$")
    }
}

extension World {
    /// Posts until the answer isn't 503 any more.
    fileprivate func postUntilAnswered(_ sale: StandInSale) throws -> HTTPAnswer {
        let answer = try eventually { () throws -> HTTPAnswer? in
            let answer = try post(sale)
            return answer.status == 503 ? nil : answer
        }
        return try #require(answer)
    }
}
