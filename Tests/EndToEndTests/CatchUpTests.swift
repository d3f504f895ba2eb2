import AppStoreStandIn
import Base
import Glibc
import PrivatePostgres
import TestSupport
import Testing

extension World {
    /// What `coinledger app-store` needs to ask the shop.
    func appStore(_ arguments: [String]) throws -> Program.Run {
        let key = shop.store.apiKey
        try write(key.key.pem, to: folder.path + "/key.p8")
        return try Program.run(
            ["app-store"] + arguments + [
                "--catalogue", folder.path + "/catalogue.json", "--app-store-root",
                folder.path + "/root.pem", "--allow-private-root", "--app-store-key",
                folder.path + "/key.p8", "--app-store-key-id", key.keyID,
                "--app-store-issuer-id", key.issuerID, "--app-store-api-url", shop.url,
                "--app-store-api-sandbox-url", shop.url + "/sandbox/",
            ], environment: ["COINLEDGER_DATABASE_URL": ledger.serviceURL])
    }

    /// Has the shop send its notifications to a service.
    func notify(_ port: UInt16) {
        shop.store.notifications.setTarget("http://127.0.0.1:\(port)/v1/app-store/notifications")
    }

    /// Waits until nothing is on its way or waits to be worked on.
    func settle() throws {
        let isSettled = try eventually { () -> Bool? in
            guard shop.store.notifications.isIdle else { return nil }
            let pending = try ledger.count(
                "SELECT count(*) FROM coinledger.store_notifications WHERE state = 'pending'")
            return pending == 0 ? true : nil
        }
        #expect(isSettled == true, "\(services.map { $0.output.suffix(2000) })")
    }
}

@Suite struct `Catching up after days` {
    private static let hour: Int64 = 3_600_000
    private static let token = "0a4b0a52-6c1b-4b6e-8f0e-6b8f5c1d2e3f"

    private func since(daysAgo days: Int64) -> String {
        var seconds = time_t(Shop.now() / 1000 - days * 24 * 3600)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 64)
        let count = strftime(&text, text.count, "%Y-%m-%dT%H:%M:%S.000Z", &parts)
        return String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Sells something that the shop says nothing of by itself.
    private func sell(_ world: World, _ product: String, token: String?) throws -> String {
        try world.shop.sell(product) { purchase in
            purchase.appAccountToken = token
            purchase.notify = false
        }.transactionID
    }

    /// Sends a notification that was signed so many hours ago.
    private func send(
        _ world: World, _ type: String, _ transaction: String, hoursAgo: Int64,
        _ change: (inout StandInNotification) -> Void = { _ in }
    ) throws {
        var notification = StandInNotification(type, of: transaction)
        notification.signedDate = Shop.now() - hoursAgo * Self.hour
        change(&notification)
        try world.shop.store.send(notification)
    }

    /// What happened in four days, in no order: what is granted, refunded, reversed, unclaimed.
    private func fourDays(_ world: World) throws -> (expected: Int64, unclaimed: String) {
        let kept = try sell(world, "coins100", token: Self.token)
        let refunded = try sell(world, "coins100", token: Self.token)
        let reversed = try sell(world, "coins500", token: Self.token)
        let unclaimed = try sell(world, "coins100", token: nil)
        let full: (inout StandInNotification) -> Void = {
            $0.transaction = JSONObject([
                .init("revocationDate", .integer(Shop.now() - 60 * Self.hour)),
                .init("revocationReason", 0), .init("revocationType", "REFUND_FULL"),
                .init("revocationPercentage", 100_000),
            ])
        }
        try send(world, "REFUND_REVERSED", reversed, hoursAgo: 10)
        try send(world, "REFUND", refunded, hoursAgo: 50, full)
        try send(world, "ONE_TIME_CHARGE", unclaimed, hoursAgo: 20)
        try send(world, "ONE_TIME_CHARGE", reversed, hoursAgo: 90)
        try send(world, "REFUND", reversed, hoursAgo: 70, full)
        try send(world, "ONE_TIME_CHARGE", kept, hoursAgo: 95)
        try send(world, "ONE_TIME_CHARGE", refunded, hoursAgo: 80)
        return (100 + 500, unclaimed)
    }

    @Test func `ends as if everything had been delivered`() async throws {
        try await World.run { world throws in
            _ = try world.linkToken(Self.token, to: "u1")
            world.notify(world.port)
            _ = try world.shop.sell { $0.appAccountToken = Self.token }
            try world.settle()
            #expect(try world.total() == 100)
            #expect(world.services[0].stop() == .code(0))
            // All six attempts, at once.
            world.shop.store.notifications.setClockRate(100_000_000)
            let (gained, unclaimed) = try fourDays(world)
            #expect(
                eventually { world.shop.store.notifications.isIdle ? true : nil } == true)
            let command = ["catch-up", "--since", since(daysAgo: 5)]
            let first = try world.appStore(command)
            #expect(first.exit == .code(0), "\(first.output)")
            let lines = first.output.split(separator: "\n").map(String.init)
            #expect(lines.count == 8)
            // Oldest first.
            #expect(lines.dropLast().sorted() == Array(lines.dropLast()))
            #expect(lines[0].contains("ONE_TIME_CHARGE"))
            #expect(lines[0].contains("accepted  (6 attempts, last SOCKET_ISSUE)"))
            #expect(lines[2].contains("ONE_TIME_CHARGE"))
            #expect(
                lines.last == "7 accepted, 0 known already, 0 of other apps, 0 not believed")
            // Twice changes nothing.
            let second = try world.appStore(command + ["--all"])
            #expect(
                second.output.hasSuffix(
                    "\n0 accepted, 8 known already, 0 of other apps, 0 not believed\n"))
            let service = try world.startService()
            defer { service.kill() }
            try world.settle()
            let balance = try world.ask(
                HTTPQuestion(
                    "GET", "/v1/accounts/u1/balance",
                    headers: [("Authorization", "Bearer \(world.ledger.keys.backend)")]),
                port: service.port)
            #expect(balance.json["total"] == .integer(100 + gained))
            let owner = try world.ledger.rows(
                "SELECT outcome FROM coinledger.store_notifications WHERE transaction_id = "
                    + "'\(unclaimed)'")
            #expect(owner == [["unclaimed"]])
            #expect(service.stop() == .code(0))
        }
    }

    @Test func `may be done while the service works`() async throws {
        try await World.run { world throws in
            _ = try world.linkToken(Self.token, to: "u1")
            world.shop.store.notifications.setTarget("http://127.0.0.1:1/")
            world.shop.store.notifications.setClockRate(100_000_000)
            let (gained, _) = try fourDays(world)
            #expect(
                eventually { world.shop.store.notifications.isIdle ? true : nil } == true)
            let run = try world.appStore(["catch-up", "--since", since(daysAgo: 5)])
            #expect(run.exit == .code(0), "\(run.output)")
            try world.settle()
            #expect(try world.total() == gained)
        }
    }

    @Test func `says what isn't believed, and what isn't ours`() async throws {
        try await World.run { world throws in
            world.shop.store.notifications.setTarget("http://127.0.0.1:1/")
            world.shop.store.notifications.setClockRate(100_000_000)
            let sale = try sell(world, "coins100", token: Self.token)
            try send(world, "ONE_TIME_CHARGE", sale, hoursAgo: 3) {
                $0.innerFault = .chain(.foreignRoot)
            }
            try send(world, "ONE_TIME_CHARGE", sale, hoursAgo: 2) { notification in
                notification.fault = .wrongBundle
                notification.innerFault = .wrongBundle
            }
            try send(world, "ONE_TIME_CHARGE", sale, hoursAgo: 1)
            #expect(
                eventually { world.shop.store.notifications.isIdle ? true : nil } == true)
            let run = try world.appStore(["catch-up", "--since", since(daysAgo: 1)])
            #expect(run.exit == .code(1))
            let lines = run.output.split(separator: "\n")
            #expect(lines[0].contains("not believed: transaction_"))
            #expect(lines[1].contains("ignored"))
            #expect(lines[2].contains("accepted"))
            #expect(lines[3] == "1 accepted, 0 known already, 1 of other apps, 1 not believed")
        }
    }

    @Test func `says where to go on if the store is away`() async throws {
        try await World.run(services: 0) { world throws in
            let endpoint = "inApps/v1/notifications/history"
            let effect = StandInFault.Effect.apiError(
                status: 429, code: 4_290_000, retryAfterMilliseconds: 3_000_000)
            world.shop.failVerification(effect, endpoint: endpoint)
            let start = since(daysAgo: 1)
            let run = try world.appStore(["catch-up", "--since", start])
            #expect(run.exit == .code(75))
            #expect(run.output.contains("Go on with --since \(start)\n"))
            let early = try world.appStore(["catch-up", "--since", "2020-01-01T00:00:00Z"])
            #expect(early.exit == .code(1))
            #expect(early.output.contains("4000012"))
        }
    }

    @Test(arguments: [
        ([], "say catch-up, test-notification or transaction"),
        (["catch"], "catch is neither catch-up, test-notification nor transaction"),
        (["catch-up"], "--since is missing"), (["catch-up", "now"], "now is one word too many"),
        (["catch-up", "--since", "yesterday"], "yesterday isn't an instant"),
        (["catch-up", "--since", "2999-01-01T00:00:00Z"], "isn't before"),
        (
            ["catch-up", "--since", "2026-01-01T00:00:00Z", "--environment", "xcode"],
            "xcode is neither production nor sandbox"
        ),
        (["transaction"], "transaction needs the id of one"),
        (["test-notification", "--wait", "0"], "0 isn't a whole number from 1 to 600"),
    ])
    func `says what is wrong with the question`(
        arguments: [String], message: String
    ) async throws {
        try await World.run(services: 0) { world throws in
            let run = try world.appStore(arguments)
            #expect(run.exit == .code(64))
            #expect(run.output.contains(message), "\(run.output)")
        }
    }

    @Test func `needs the key`() async throws {
        try await World.run(services: 0) { world throws in
            let options = [
                "--catalogue", world.folder.path + "/catalogue.json", "--app-store-root",
                world.folder.path + "/root.pem", "--allow-private-root",
            ]
            func output(_ more: [String]) throws -> String {
                let run = try Program.run(
                    ["app-store", "transaction", "1"] + options + more,
                    environment: ["COINLEDGER_DATABASE_URL": world.ledger.serviceURL])
                #expect(run.exit == .code(64))
                return run.output
            }
            #expect(
                try output([]).contains(
                    "--app-store-key or COINLEDGER_APP_STORE_KEY is missing"))
            #expect(
                try output(["--app-store-key-id", "K"]).contains(
                    "--app-store-key-id needs --app-store-key"))
            let root = world.folder.path + "/root.pem"
            #expect(
                try output(["--app-store-key", root]).contains("holds no private key in PEM"))
            let p384 = world.folder.path + "/p384.pem"
            try write(SigningKey(.p384).pem, to: p384)
            #expect(try output(["--app-store-key", p384]).contains("isn't one on the curve P-256"))
        }
    }
}

@Suite struct `A test notification` {
    @Test func `goes the whole way`() async throws {
        try await World.run { world throws in
            let none = try world.appStore(["test-notification"])
            #expect(none.exit == .code(1))
            #expect(none.output.contains("App Store Connect has no URL"))
            world.notify(world.port)
            let run = try world.appStore(["test-notification"])
            #expect(run.exit == .code(0), "\(run.output)")
            #expect(run.output.contains(": TEST, done, recorded."))
            let sandbox = try world.appStore(["test-notification", "--environment", "sandbox"])
            #expect(sandbox.exit == .code(0), "\(sandbox.output)")
            let kept = try world.ledger.rows(
                "SELECT environment, type, state FROM coinledger.store_notifications ORDER BY 1")
            #expect(kept.count == 2)
            #expect(kept.allSatisfy { $0[1...] == ["TEST", "done"] })
        }
    }

    @Test func `says where the way ends`() async throws {
        try await World.run { world throws in
            world.shop.store.notifications.setTarget("http://127.0.0.1:1/")
            let closed = try world.appStore(["test-notification"])
            #expect(closed.exit == .code(1))
            #expect(closed.output.contains("SOCKET_ISSUE, the connection failed."))
            world.shop.store.notifications.setTarget(
                "http://127.0.0.1:\(world.port)/v1/elsewhere")
            let wrong = try world.appStore(["test-notification"])
            #expect(wrong.exit == .code(1))
            #expect(wrong.output.contains("UNSUCCESSFUL_HTTP_RESPONSE_CODE"))
        }
    }
}

@Suite struct `A transaction of the store` {
    @Test func `is shown as the store has it now`() async throws {
        try await World.run(services: 0) { world throws in
            let sale = try world.shop.sell { $0.environment = "Sandbox" }
            let run = try world.appStore(["transaction", sale.transactionID])
            #expect(run.exit == .code(0), "\(run.output)")
            let shown = try JSON.parse(Array(run.output.utf8))
            #expect(shown["transactionId"] == .string(sale.transactionID))
            #expect(shown["environment"] == "Sandbox")
            let unknown = try world.appStore(["transaction", "1"])
            #expect(unknown.exit == .code(1))
            #expect(unknown.output.contains("4040010"))
            let wrong = try world.appStore(["transaction", "../1"])
            #expect(wrong.exit == .code(1))
            #expect(wrong.output.contains("this can't be an id"))
        }
    }
}
