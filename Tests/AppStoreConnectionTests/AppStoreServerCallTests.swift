import AppStore
import AppStoreConnection
import Base
import Testing

@Suite struct `A call to the App Store Server API` {
    private let api = "https://api.storekit.apple.com"
    private let sandbox = "https://api.storekit-sandbox.apple.com"

    /// What was sent, in one line.
    private func sent(_ store: ScriptedStore) -> [String] {
        store.requests.map { request in
            let body = String(decoding: request.body, as: UTF8.self)
            return "\(request.method) \(request.url)\(body.isEmpty ? "" : " " + body)"
        }
    }

    private func failure(
        _ body: () async throws(AppStoreServerError) -> Void
    ) async -> AppStoreServerError? {
        do throws(AppStoreServerError) {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    @Test func `gets a transaction`() async throws {
        let store = ScriptedStore(["signedTransactionInfo": "a.b.c", "more": 1])
        let client = try store.serverClient()
        #expect(try await client.transaction("2000000001", in: .sandbox) == "a.b.c")
        #expect(sent(store) == ["GET \(sandbox)/inApps/v1/transactions/2000000001"])
        let names = store.requests[0].headers.map(\.name)
        #expect(names == ["Authorization", "Accept"])
        #expect(store.requests[0].timeoutMilliseconds == 10_000)
    }

    @Test func `gets a transaction from wherever it is`() async throws {
        let store = ScriptedStore([
            .error(4_040_010), .json(["signedTransactionInfo": "a.b.c"]),
        ])
        let (signed, environment) = try await store.serverClient().transaction("1")
        #expect(signed == "a.b.c")
        #expect(environment == .sandbox)
        #expect(store.asked == "PS")
        let other = ScriptedStore(["signedTransactionInfo": "d.e.f"])
        #expect(try await other.serverClient().transaction("1").environment == .production)
        #expect(other.asked == "P")
    }

    @Test func `asks the sandbox only for what production doesn't know`() async throws {
        let store = ScriptedStore([.error(4_000_006)])
        let error = AppStoreServerError.refused(status: 400, code: 4_000_006, message: "Text.")
        await #expect(throws: error) { _ = try await store.serverClient().transaction("1") }
        #expect(store.asked == "P")
        let nowhere = ScriptedStore([.error(4_040_010)])
        await #expect(throws: AppStoreServerError.notFound(code: 4_040_010)) {
            _ = try await nowhere.serverClient().transaction("1")
        }
        #expect(nowhere.asked == "PS")
    }

    @Test func `gets a page of a history`() async throws {
        let store = ScriptedStore([
            "signedTransactions": ["a", "b"], "revision": "r+/=", "hasMore": true,
        ])
        let client = try store.serverClient()
        let page = try await client.history(of: "1", in: .production)
        #expect(page.signedTransactions == ["a", "b"])
        #expect(page.revision == "r+/=")
        #expect(page.hasMore)
        var query = TransactionHistoryQuery()
        query.productIDs = ["coins 100", "é"]
        query.productTypes = []
        query.startDate = 5
        query.endDate = 6
        query.revoked = false
        query.newestFirst = true
        _ = try await client.history(of: "1", in: .production, query, revision: page.revision)
        #expect(
            sent(store) == [
                "GET \(api)/inApps/v2/history/1?productType=CONSUMABLE&sort=ASCENDING",
                "GET \(api)/inApps/v2/history/1?revision=r%2B%2F%3D&productId=coins%20100"
                    + "&productId=%C3%A9&startDate=5&endDate=6&revoked=false&sort=DESCENDING",
            ])
    }

    @Test func `gets a page of refunds`() async throws {
        let store = ScriptedStore(["signedTransactions": [], "hasMore": false])
        let page = try await store.serverClient().refunds(of: "1", in: .sandbox, revision: "r")
        #expect(
            page == TransactionPage(signedTransactions: [], revision: nil, hasMore: false))
        #expect(sent(store) == ["GET \(sandbox)/inApps/v2/refund/lookup/1?revision=r"])
    }

    @Test func `looks an order up`() async throws {
        let store = ScriptedStore(
            ["status": 0, "signedTransactions": ["a"]], ["status": 1])
        let client = try store.serverClient()
        let valid = OrderLookup(isValid: true, signedTransactions: ["a"])
        #expect(try await client.order("MK4TT5XXXX") == valid)
        let invalid = OrderLookup(isValid: false, signedTransactions: [])
        #expect(try await client.order("MK4TT5XXXX") == invalid)
        #expect(sent(store)[0] == "GET \(api)/inApps/v1/lookup/MK4TT5XXXX")
    }

    @Test func `tells how much was used`() async throws {
        let store = ScriptedStore([.text("", status: 202)])
        let information = try #require(
            ConsumptionInformation(
                deliveryStatus: .delivered, consumptionPercentage: 40_000,
                refundPreference: .grantProrated))
        try await store.serverClient().sendConsumption(information, of: "1", in: .production)
        #expect(
            sent(store) == [
                "PUT \(api)/inApps/v2/transactions/consumption/1 "
                    + #"{"customerConsented":true,"deliveryStatus":"DELIVERED","#
                    + #""sampleContentProvided":false,"consumptionPercentage":40000,"#
                    + #""refundPreference":"GRANT_PRORATED"}"#
            ])
        #expect(store.requests[0].headers.contains { $0 == ("Content-Type", "application/json") })
    }

    @Test func `sets an account token and finishes a transaction`() async throws {
        let store = ScriptedStore([.text("", status: 200)])
        let client = try store.serverClient()
        let token = "0a4b0a52-6c1b-4b6e-8f0e-6b8f5c1d2e3f"
        try await client.setAppAccountToken(token, of: "1", in: .production)
        try await client.finish("2", in: .sandbox)
        #expect(
            sent(store) == [
                "PUT \(api)/inApps/v1/transactions/1/appAccountToken "
                    + #"{"appAccountToken":"\#(token)"}"#,
                "POST \(sandbox)/inApps/v1/transactions/2/finish",
            ])
    }

    @Test func `requests a test notification and asks for its fate`() async throws {
        let store = ScriptedStore(
            ["testNotificationToken": "t_1"],
            [
                "signedPayload": "a.b.c",
                "sendAttempts": [["attemptDate": 5, "sendAttemptResult": "TIMED_OUT"]],
            ], ["sendAttempts": nil])
        let client = try store.serverClient()
        #expect(try await client.requestTestNotification(in: .production) == "t_1")
        let attempt = DeliveryAttempt(attemptedAt: 5, result: "TIMED_OUT")
        #expect(
            try await client.testNotification("t_1", in: .production)
                == TestNotification(signedPayload: "a.b.c", sendAttempts: [attempt]))
        #expect(
            try await client.testNotification("t_1", in: .production)
                == TestNotification(signedPayload: nil, sendAttempts: []))
        #expect(
            sent(store).prefix(2) == [
                "POST \(api)/inApps/v1/notifications/test",
                "GET \(api)/inApps/v1/notifications/test/t_1",
            ])
    }

    @Test func `gets pages of notifications`() async throws {
        let store = ScriptedStore(
            [
                "notificationHistory": [
                    [
                        "signedPayload": "a.b.c",
                        "sendAttempts": [["attemptDate": 5, "sendAttemptResult": "SUCCESS"]],
                    ], ["signedPayload": "d.e.f"],
                ], "hasMore": true, "paginationToken": "p=",
            ], ["hasMore": false, "paginationToken": "p="])
        let client = try store.serverClient()
        var query = NotificationHistoryQuery(startDate: 1, endDate: 2, onlyFailures: true)
        let page = try await client.notificationHistory(query, in: .production)
        #expect(page.notifications.map(\.signedPayload) == ["a.b.c", "d.e.f"])
        #expect(page.notifications[0].sendAttempts.map(\.result) == [DeliveryAttempt.success])
        #expect(page.next == "p=")
        query.onlyFailures = false
        query.transactionID = "7"
        let last = try await client.notificationHistory(query, page: page.next, in: .production)
        #expect(last == NotificationPage(notifications: [], next: nil))
        #expect(
            sent(store) == [
                "POST \(api)/inApps/v1/notifications/history "
                    + #"{"startDate":1,"endDate":2,"onlyFailures":true}"#,
                "POST \(api)/inApps/v1/notifications/history?paginationToken=p%3D "
                    + #"{"startDate":1,"endDate":2,"transactionId":"7"}"#,
            ])
    }

    @Test(arguments: ["", ".", "..", "a/b", "1?x=2", "1#", "1 2", "1%2F", "é", "1\r\n"])
    func `is only made for what can be an id`(id: String) async throws {
        let store = ScriptedStore(["signedTransactionInfo": "a.b.c"])
        let client = try store.serverClient()
        let error = await failure { () async throws(AppStoreServerError) in
            _ = try await client.transaction(id)
        }
        #expect(error == .refused(status: 400, code: nil, message: "this can't be an id"))
        #expect(store.requests.isEmpty)
    }

    @Test func `is only made where there is a store`() async throws {
        let store = ScriptedStore(["signedTransactionInfo": "a.b.c"])
        let error = AppStoreServerError.refused(
            status: 400, code: nil, message: "this environment has no store")
        for environment in [StoreEnvironment.xcode, .localTesting, .other("Lab")] {
            await #expect(throws: error) {
                _ = try await store.serverClient().transaction("1", in: environment)
            }
        }
        #expect(store.requests.isEmpty)
    }

    @Test(
        arguments: [
            ([:], "signedTransactions"), (["signedTransactions": 1], "signedTransactions"),
            (["signedTransactions": [1]], "signedTransactions"),
            (["signedTransactions": []], "hasMore"),
            (["signedTransactions": [], "hasMore": "no"], "hasMore"),
            (["signedTransactions": [], "hasMore": true], "revision"),
            (["signedTransactions": [], "hasMore": true, "revision": 5], "revision"),
        ] as [(JSON, String)])
    func `takes no answer that it doesn't understand`(answer: JSON, field: String) async throws {
        let store = ScriptedStore(answer)
        await #expect(throws: AppStoreServerError.wrongShape(field: field)) {
            _ = try await store.serverClient().refunds(of: "1", in: .production)
        }
        #expect(store.requests.count == 1)
    }

    @Test func `understands no other answer about an order than yes and no`() async throws {
        let store = ScriptedStore(["status": 2])
        await #expect(throws: AppStoreServerError.wrongShape(field: "status")) {
            _ = try await store.serverClient().order("A")
        }
    }

    @Test func `sends about consumption only what the store takes`() throws {
        #expect(
            ConsumptionInformation(
                deliveryStatus: .wrongItem, consumptionPercentage: 1, refundPreference: nil)
                == nil)
        #expect(
            ConsumptionInformation(
                deliveryStatus: .delivered, consumptionPercentage: 0,
                refundPreference: .grantProrated) == nil)
        #expect(
            ConsumptionInformation(
                deliveryStatus: .delivered, consumptionPercentage: 100_001, refundPreference: nil)
                == nil)
        let all = [
            ConsumptionInformation(
                deliveryStatus: .serverOutage, consumptionPercentage: nil,
                refundPreference: .grantFull),
            ConsumptionInformation(
                deliveryStatus: .delivered, sampleContentProvided: true,
                consumptionPercentage: 100_000, refundPreference: .decline),
        ]
        for information in all {
            let written = try #require(information).json
            #expect(ConsumptionInformation(json: written) == information)
        }
        #expect(ConsumptionInformation(json: ["customerConsented": false]) == nil)
        #expect(ConsumptionInformation(json: []) == nil)
    }
}
