import Base
import CoinLedgerService
import TestSupport
import Testing

@Suite struct `Consent` {
    private static let path = "/v1/accounts/u1/consent"

    @Test func `is recorded, read and withdrawn`() async throws {
        try await TestApp.run { app in
            func consented() async -> JSON? { await app.ask("GET", Self.path).json["consented"] }
            #expect(await consented() == .null)
            for (isGiven, version) in [(true, 1), (true, 1), (false, 2), (true, 3)] {
                let put = await app.ask("PUT", Self.path, ["consented": .bool(isGiven)])
                #expect(put.status == 200)
                #expect(put.json["accountId"]?.string == "u1")
                #expect(put.json["consented"] == .bool(isGiven))
                #expect(await consented() == .bool(isGiven))
                #expect(await app.balance()["version"]?.integer == Int64(version))
            }
            let events = await app.ask("GET", "/v1/accounts/u1/events?type=ConsentRecorded")
            #expect(
                events.json["events"]?.array?.compactMap { $0["data"]?["consented"]?.bool }
                    == [true, false, true])
        }
    }

    @Test(arguments: [
        ("{}", "consented"), (#"{"consented":"yes"}"#, "consented"),
        (#"{"consented":null}"#, "consented"), (#"{"consented":true,"by":"u1"}"#, "by"),
    ])
    func `is true or false`(body: String, field: String) async throws {
        try await TestApp.run { app in
            let answer = await app.ask("PUT", Self.path, bytes: Array(body.utf8), keys: [])
            #expect(answer.status == 400)
            #expect(answer.code == "invalid_body")
            #expect(answer.json["detail"]?.string == field)
        }
    }

    @Test func `needs the scope of purchases, or that of reading`() async throws {
        try await TestApp.run { app in
            for scope in APIScope.allCases {
                let put = await app.ask("PUT", Self.path, ["consented": true], scope: scope)
                #expect(put.status == (scope == .purchases ? 200 : 403), "\(scope)")
                let get = await app.ask("GET", Self.path, scope: scope)
                #expect(get.status == (scope == .read ? 200 : 403), "\(scope)")
            }
        }
    }
}
