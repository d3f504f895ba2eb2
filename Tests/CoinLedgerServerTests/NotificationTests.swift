import AppStoreStandIn
import Base
import CoinLedger
import CoinLedgerServer
import CoinLedgerService
import EventStore
import HTTPServer
import InMemoryEventStore
import LedgerTestSupport
import TestSupport
import Testing

private let path = "/v1/app-store/notifications"
private let uuid = "00000000-0000-4000-8000-00000000000a"

@Suite struct `The URL for notifications` {
    private func signed(
        _ app: TestApp, _ change: (inout StandInNotification) -> Void = { _ in }
    ) throws -> String {
        let sale = try app.shop.purchase(StandInPurchase(productID: "coins100"))
        return try app.shop.notification("REFUND", of: sale.transactionID) {
            $0.uuid = uuid
            change(&$0)
        }
    }

    /// Without any key.
    private func post(_ app: TestApp, _ body: JSON) async throws -> (Int, JSON) {
        let response = await app.app.respond(
            to: HTTPRequest(method: "POST", target: path, path: path, body: body.bytes))
        return (response.status, try JSON.parse(response.body))
    }

    @Test func `takes a signed notification without a key, once`() async throws {
        try await TestApp.run { app in
            let body: JSON = ["signedPayload": .string(try signed(app))]
            let first = try await post(app, body)
            #expect(first == (200, ["outcome": "accepted"]))
            #expect(try await post(app, body) == (200, ["outcome": "duplicate"]))
            #expect(await app.ask("POST", path, body).json == ["outcome": "duplicate"])
        }
    }

    @Test func `does not mind fields that are new`() async throws {
        try await TestApp.run { app in
            let body: JSON = ["x": 1, "signedPayload": .string(try signed(app))]
            #expect(await app.ask("POST", path, body).status == 200)
        }
    }

    @Test func `ignores other apps, and says so`() async throws {
        try await TestApp.run { app in
            let other = try signed(app) {
                ($0.fault, $0.innerFault) = (.wrongBundle, .wrongBundle)
            }
            let answer = await app.ask("POST", path, ["signedPayload": .string(other)])
            #expect(answer.status == 200)
            #expect(answer.json == ["outcome": "ignored"])
        }
    }

    static let bodies: [(JSON, String)] = [
        ([:], "invalid_body"), (["signedPayload": 5], "invalid_body"), ([], "invalid_body"),
        (["signedPayload": ""], "signed_data_malformed"),
        (["signedPayload": "a.b.c"], "signed_data_malformed"),
        (
            ["signedPayload": .string(String(repeating: "x", count: 70_000))],
            "signed_data_too_large"
        ),
    ]

    @Test(arguments: bodies)
    func `refuses anything else`(body: JSON, code: String) async throws {
        try await TestApp.run { app in
            let answer = await app.ask("POST", path, body)
            #expect((answer.status, answer.code) == (400, code))
            #expect(answer.json["retryable"] == false)
        }
    }

    @Test func `refuses forgeries inside and outside`() async throws {
        try await TestApp.run { app in
            for (fault, innerFault, code) in [
                (.wrongSignature, nil, "bad_signature"),
                (nil, .wrongSignature, "transaction_bad_signature"),
                (nil, .chain(.foreignRoot), "transaction_untrusted_chain"),
                (nil, .wrongBundle, "transaction_mismatch"),
            ] as [(PurchaseFault?, PurchaseFault?, String)] {
                let forged = try signed(app) { ($0.fault, $0.innerFault) = (fault, innerFault) }
                let answer = await app.ask("POST", path, ["signedPayload": .string(forged)])
                #expect((answer.status, answer.code) == (400, code))
            }
        }
    }

    @Test func `shows the support desk what has become of one`() async throws {
        try await TestApp.run { app in
            let signed = try signed(app)
            _ = await app.ask("POST", path, ["signedPayload": .string(signed)])
            let answer = await app.ask("GET", "\(path)/\(uuid.uppercased())", scope: .support)
            #expect(answer.status == 200)
            #expect(answer.json["notificationUuid"]?.string == uuid)
            #expect(answer.json["type"] == "REFUND")
            #expect(answer.json["state"] == "pending")
            #expect(answer.json["productId"] == "coins100")
            #expect(answer.json["outcome"] == .null)
            #expect(answer.json["nextAttemptAt"]?.string == Timestamp.noon.description)
            #expect(answer.json["signedPayload"] == nil)
            let id = try #require(NotificationID(uuid))
            try await app.store.end(
                id, .done("refunded", detail: #"{"accountId":"u1"}"#), at: .noon)
            let done = await app.ask("GET", "\(path)/\(uuid)", scope: .support)
            #expect(done.json["outcome"] == "refunded")
            #expect(done.json["detail"] == ["accountId": "u1"])
            #expect(done.json["nextAttemptAt"] == .null)
            #expect(done.json["endedAt"]?.string == Timestamp.noon.description)
        }
    }

    @Test func `lists the dead ones, page by page, and has them tried again`() async throws {
        try await TestApp.run { app in
            for _ in 0..<3 {
                let signed = try signed(app) { $0.uuid = nil }
                _ = await app.ask("POST", path, ["signedPayload": .string(signed)])
            }
            let pending = try await app.store.notifications(in: .pending, after: 0, limit: 9)
            for kept in pending { try await app.store.end(kept.id, .dead("x"), at: .noon) }
            let first = await app.ask("GET", "\(path)?limit=2", scope: .support).json
            #expect(first["state"] == "dead")
            #expect(first["notifications"]?.array?.count == 2)
            let next = try #require(first["next"]?.string)
            let second = await app.ask("GET", "\(path)?state=dead&after=\(next)", scope: .support)
            #expect(second.json["notifications"]?.array?.count == 1)
            #expect(second.json["next"] == .null)
            let other = await app.ask("GET", "\(path)?state=done&after=\(next)", scope: .support)
            #expect((other.status, other.code) == (400, "invalid_cursor"))

            let retry = "\(path)/\(pending[0].id)/retry"
            let retried = await app.ask("POST", retry, scope: .support)
            #expect(retried.status == 202)
            #expect(retried.json["state"] == "pending")
            #expect(retried.json["attempts"] == 0)
            let again = await app.ask("POST", retry, scope: .support)
            #expect((again.status, again.code) == (409, "notification_not_dead"))
            #expect(
                await app.ask("GET", path, scope: .support).json["notifications"]?.array?.count == 2
            )
        }
    }

    @Test(arguments: [uuid, "x", "%ff", "00000000-0000-4000-8000-00000000000"])
    func `knows no other names`(name: String) async throws {
        try await TestApp.run { app in
            for (method, suffix) in [("GET", ""), ("POST", "/retry")] {
                let answer = await app.ask(method, "\(path)/\(name)\(suffix)", scope: .support)
                #expect((answer.status, answer.code) == (404, "notification_not_found"))
            }
        }
    }

    @Test func `shows them to the support desk alone`() async throws {
        try await TestApp.run { app in
            for scope in APIScope.allCases where scope != .support {
                for (method, suffix) in [
                    ("GET", ""), ("GET", "/\(uuid)"), ("POST", "/\(uuid)/retry"),
                ] {
                    let answer = await app.ask(method, path + suffix, scope: scope)
                    #expect((answer.status, answer.code) == (403, "forbidden"))
                }
            }
            let wrong = await app.ask("GET", "\(path)?state=lost", scope: .support)
            #expect((wrong.status, wrong.code) == (400, "invalid_parameter"))
        }
    }
}
