import AppStoreStandIn
import Base
import PrivatePostgres
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct `Keys of the API` {
    private func balance(_ authorization: String?) -> HTTPQuestion {
        HTTPQuestion(
            "GET", "/v1/accounts/u1/balance",
            headers: authorization.map { [("Authorization", $0)] } ?? [])
    }

    private func keys(_ world: World, _ arguments: [String]) throws -> Program.Run {
        try Program.run(
            ["keys"] + arguments,
            environment: ["COINLEDGER_DATABASE_URL": world.ledger.serviceURL])
    }

    @Test func `made by the command work at once, and revoked ones stop within a second`()
        async throws
    {
        try await World.run(services: 2) { world throws in
            let made = try keys(world, ["create", "--name", "shop", "--scopes", "read,support"])
            #expect(made.exit == .code(0))
            let key = String(made.output.dropLast())
            let question = balance("Bearer \(key)")
            for service in world.services {
                #expect(try world.ask(question, port: service.port).status == 200)
            }
            let id = String(key.split(separator: "_")[1])
            #expect(try keys(world, ["revoke", id]).output == "revoked \(id)\n")
            let revokedAt = monotonicSeconds()
            for service in world.services {
                var lastAccepted = 0.0
                let isRefused = try eventually { () throws -> Bool? in
                    let sentAt = monotonicSeconds()
                    if try world.ask(question, port: service.port).status == 401 { return true }
                    lastAccepted = sentAt
                    return nil
                }
                #expect(isRefused == true)
                #expect(lastAccepted < revokedAt + 1)
            }
            #expect(try keys(world, ["revoke", id]).exit == .code(64))
        }
    }

    @Test func `are kept as a hash, and never shown again`() async throws {
        try await World.run { world throws in
            let made = try keys(world, ["create", "--name", "shop", "--scopes", "read"])
            let parts = made.output.dropLast().split(separator: "_")
            #expect(parts.count == 3)
            #expect(parts[0] == "clk")
            #expect(parts[2].utf8.count == 64)
            let list = try keys(world, ["list"])
            let lines = list.output.split(separator: "\n")
            #expect(lines.count == 5)
            let line = try #require(lines.first { $0.hasPrefix(parts[1]) })
            #expect(line.hasSuffix("in force  read  shop"))
            #expect(!list.output.contains(parts[2]))
            let stored = try world.ledger.rows("SELECT api_keys::text FROM coinledger.api_keys")
            #expect(stored.count == 5)
            #expect(!stored.contains { $0[0].contains(parts[2]) })
        }
    }

    @Test func `that don't hold are all refused in the same words`() async throws {
        try await World.run { world throws in
            let key = world.ledger.keys.backend
            let revoked = try keys(world, ["create", "--name", "x", "--scopes", "read"])
            let revokedKey = String(revoked.output.dropLast())
            let id = String(revokedKey.split(separator: "_")[1])
            #expect(try keys(world, ["revoke", id]).exit == .code(0))
            let wrongSecret = String(key.dropLast()) + (key.hasSuffix("0") ? "1" : "0")
            let attempts: [String?] = [
                nil, "", "Bearer", "Bearer ", "Basic \(key)", key, "Bearer x\(key)",
                "Bearer \(key) ", "Bearer clk_", "Bearer clk_0123456789abcdef_00",
                "Bearer \(wrongSecret)", "Bearer \(revokedKey)", "Bearer \(key.uppercased())",
            ]
            let answers = try attempts.map { try world.ask(balance($0)) }
            for (attempt, answer) in zip(attempts, answers) where attempt != "Bearer \(key) " {
                #expect(answer.status == 401, "\(attempt ?? "none")")
                #expect(answer.text == answers[0].text, "\(attempt ?? "none")")
                #expect(answer["WWW-Authenticate"] == "Bearer")
            }
            #expect(answers[0].code == "unauthenticated")
        }
    }

    @Test func `without the scope learn nothing either`() async throws {
        try await World.run { world throws in
            let sale = try world.shop.sell()
            #expect(try world.post(sale).status == 201)
            for account in ["u1", "nobody", "not%20an%20id"] {
                var question = world.posting(sale.signedTransaction, to: account)
                question.headers[0].value = "Bearer \(world.ledger.keys.reader)"
                let answer = try world.ask(question)
                #expect(answer.status == 403)
                #expect(answer.code == "forbidden")
                #expect(answer.json["transactions"] == nil)
                #expect(!answer.text.contains(account))
                let path = "/v1/accounts/\(account)/balance"
                #expect(try world.get(path, key: world.ledger.keys.support).status == 403)
                #expect(try world.get(path, key: "clk_x").status == 401)
            }
        }
    }

    @Test func `receipts and tokens appear in no line of the log`() async throws {
        try await World.run(options: ["--log-level", "debug"]) { world throws in
            let token = "2f5c7a3e-9b1d-4c6f-8a2e-0d4b6c8e1f3a"
            #expect(try world.linkToken(token, to: "u1").status == 200)
            let sale = try world.shop.sell { $0.appAccountToken = token }
            let unknown = try world.shop.sell("unknown") { $0.appAccountToken = token }
            for text in [sale.signedTransaction, sale.receipt, unknown.signedTransaction] {
                _ = try world.post(text)
                _ = try world.post(text, to: "u2")
            }
            _ = try world.ask(balance("Bearer \(world.ledger.keys.backend)x"))
            let log = world.services[0].output
            #expect(log.contains("request answered"))
            #expect(log.contains("unknown_product"))
            for secret in [
                String(world.ledger.keys.backend.suffix(64)), token,
                String(sale.signedTransaction.suffix(40)), String(sale.receipt.prefix(40)),
            ] {
                #expect(!log.contains(secret))
            }
        }
    }
}
