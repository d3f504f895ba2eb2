import AppStoreStandIn
import Base
import PrivatePostgres
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct `A service with several loops` {
    private static let loops = 3

    /// Runs `body` with a connection to each loop: new ones go to the loop that has the fewest.
    private func withConnections(
        _ body: @escaping @Sendable (World, [HTTPConnection]) throws -> Void
    ) async throws {
        let options = ["--http-loops", "\(Self.loops)"] + World.remoteReceipts
        try await World.run(options: options) { world throws in
            let connections = try (0..<Self.loops).map { _ in
                try HTTPConnection(port: world.port)
            }
            // So that each has arrived before anything depends on where.
            for connection in connections {
                #expect(try connection.ask(HTTPQuestion("GET", "/readyz")).status == 200)
            }
            try body(world, connections)
        }
    }

    private func balance(_ key: String, of account: String) -> HTTPQuestion {
        HTTPQuestion(
            "GET", "/v1/accounts/\(account)/balance", headers: [("Authorization", "Bearer \(key)")])
    }

    @Test func `is one ledger with one set of figures`() async throws {
        try await withConnections { world, connections throws in
            let key = world.ledger.keys.backend
            for connection in connections {
                let sale = try world.shop.sell()
                let post = world.posting(sale.signedTransaction, to: "u1")
                #expect(try connection.ask(post).status == 201)
                for other in connections { #expect(try other.ask(post).status == 409) }
            }
            for connection in connections {
                let answer = try connection.ask(balance(key, of: "u1"))
                #expect(answer.json["total"]?.integer == Int64(100 * Self.loops))
                let metrics = try connection.ask(HTTPQuestion("GET", "/metrics")).text
                let receipts = "route=\"/v1/accounts/{accountId}/receipts\""
                for (status, count) in [(201, Self.loops), (409, Self.loops * Self.loops)] {
                    let line =
                        "coinledger_http_requests_total{\(receipts),status=\"\(status)\"} \(count)"
                    #expect(metrics.split(separator: "\n").contains { $0 == line })
                }
            }
        }
    }

    @Test func `refuses a revoked key on each of them within a second`() async throws {
        try await withConnections { world, connections throws in
            let database = ["COINLEDGER_DATABASE_URL": world.ledger.serviceURL]
            func keys(_ arguments: [String]) throws -> String {
                let run = try Program.run(["keys"] + arguments, environment: database)
                #expect(run.exit == .code(0))
                return String(run.output.dropLast())
            }
            let key = try keys(["create", "--name", "shop", "--scopes", "read"])
            for connection in connections {
                #expect(try connection.ask(balance(key, of: "u1")).status == 200)
            }
            _ = try keys(["revoke", String(key.split(separator: "_")[1])])
            let revokedAt = monotonicSeconds()
            for connection in connections {
                var lastAccepted = 0.0
                let isRefused = try eventually { () throws -> Bool? in
                    let sentAt = monotonicSeconds()
                    if try connection.ask(balance(key, of: "u1")).status == 401 { return true }
                    lastAccepted = sentAt
                    return nil
                }
                #expect(isRefused == true)
                #expect(lastAccepted < revokedAt + 1)
            }
        }
    }

    @Test func `finishes on each of them what was accepted when it's stopped`() async throws {
        try await withConnections { world, connections throws in
            let service = world.services[0]
            var sold: Set<String> = []
            for (index, connection) in connections.enumerated() {
                world.shop.failVerification(.none, delayMilliseconds: 1000)
                // Of a device of its own, whose receipt has no purchase of another.
                let sale = try world.shop.sell { $0.device = "device-\(index)" }
                sold.insert(sale.transactionID)
                try connection.send(world.posting(sale.receipt, to: "u\(index)").bytes)
                let isAsking = eventually { world.shop.pendingFaults == 0 ? true : nil }
                #expect(isAsking == true)
            }
            #expect(service.stop() == .code(0))
            for connection in connections {
                let answer = try connection.answer()
                #expect(answer.status == 201, "\(answer.text)")
            }
            #expect(try world.ledger.grantedTransactions() == sold)
        }
    }

    @Test(arguments: ["0", "17", "two"]) func `has a number of them that makes sense`(
        number: String
    ) async throws {
        try await World.run { world throws in
            let run = try Program.run(
                ["serve"] + world.serveOptions + ["--http-loops", number],
                environment: ["COINLEDGER_DATABASE_URL": world.ledger.serviceURL])
            #expect(run.exit == .code(64))
        }
    }
}
