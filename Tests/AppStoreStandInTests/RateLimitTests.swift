import AppStoreStandIn
import Base
import HTTPServer
import Testing

@Suite struct `The Server API's limits` {
    private let clock = Lock<Int64>(0)
    private let store = makeStore()
    private let api: StandInAPI

    init() throws {
        api = StandInAPI(
            store: store, monotonic: { [clock] in clock.withLock { $0 } }, sleep: { _ in })
        var purchase = StandInPurchase(productID: product)
        purchase.transactionID = "T1"
        _ = try store.purchase(purchase)
        purchase.environment = "Sandbox"
        purchase.transactionID = "S1"
        _ = try store.purchase(purchase)
    }

    private func call(_ path: String, method: String = "GET") async -> HTTPResponse {
        await api.respond(
            to: HTTPRequest(
                method: method, target: path, path: path,
                headers: ["Authorization": "Bearer \(bearer(store.apiKey))"]))
    }

    private func retryAfter(_ response: HTTPResponse) -> String? {
        response.headers.first { $0.name == "Retry-After" }?.value
    }

    @Test func `are those of production and a tenth of them in the sandbox`() async throws {
        for (path, count) in [
            ("/inApps/v1/transactions/T1", 50), ("/sandbox/inApps/v1/transactions/S1", 5),
            ("/inApps/v2/refund/lookup/T1", 10), ("/sandbox/inApps/v2/refund/lookup/S1", 1),
        ] {
            for _ in 0..<count { #expect(await call(path).status == 200) }
            let refused = await call(path)
            #expect(refused.status == 429)
            #expect(
                try JSON.parse(refused.body)
                    == ["errorCode": 4_290_000, "errorMessage": "Rate limit exceeded."])
        }
    }

    @Test func `say when to come again, in milliseconds`() async {
        let path = "/sandbox/inApps/v1/transactions/S1"
        for _ in 0..<5 { _ = await call(path) }
        #expect(retryAfter(await call(path)) == String(noon + 200))
        clock.withLock { $0 += 199 }
        #expect(retryAfter(await call(path)) == String(noon + 1))
        clock.withLock { $0 += 1 }
        #expect(await call(path).status == 200)
        #expect(await call(path).status == 429)
    }

    @Test func `let one test notification through each second`() async {
        let path = "/inApps/v1/notifications/test"
        // There's no target.
        #expect(await call(path, method: "POST").status == 404)
        #expect(await call(path, method: "POST").status == 429)
        clock.withLock { $0 += 1000 }
        #expect(await call(path, method: "POST").status == 404)
        let sandbox = "/sandbox" + path
        #expect(await call(sandbox, method: "POST").status == 404)
        #expect(retryAfter(await call(sandbox, method: "POST")) == String(noon + 10_000))
    }

    @Test func `can be changed and taken away`() async throws {
        for (percentage, allowed) in [(10, 5), (0, 200), (200, 100)] as [(Int64, Int)] {
            let body: JSON = ["percentage": .integer(percentage)]
            let set = await api.respond(
                to: HTTPRequest(
                    method: "PUT", target: "/rate-limits", path: "/rate-limits",
                    body: body.bytes))
            #expect(set.status == 200)
            for _ in 0..<allowed {
                #expect(await call("/inApps/v1/transactions/T1").status == 200)
            }
            let next = await call("/inApps/v1/transactions/T1").status
            #expect(next == (percentage == 0 ? 200 : 429))
        }
    }

    @Test(arguments: [[:], ["percentage": -1], ["percentage": 100_001], ["other": 1]] as [JSON])
    func `are changed to what is possible only`(body: JSON) async {
        let answer = await api.respond(
            to: HTTPRequest(
                method: "PUT", target: "/rate-limits", path: "/rate-limits", body: body.bytes))
        #expect(answer.status == 400)
    }

    @Test func `and other errors can be asked for`() async throws {
        for fault: JSON in [
            [
                "endpoint": "inApps/v1/transactions", "errorCode": 4_290_000,
                "retryAfterMilliseconds": 1500,
            ],
            ["endpoint": "inApps/v1/transactions", "errorCode": 5_000_001],
            ["endpoint": "sandbox/inApps/v1/transactions/finish", "status": 503],
        ] {
            let added = await api.respond(
                to: HTTPRequest(
                    method: "POST", target: "/faults", path: "/faults", body: fault.bytes))
            #expect(added.status == 201)
        }
        let limited = await call("/inApps/v1/transactions/T1")
        #expect(limited.status == 429)
        #expect(retryAfter(limited) == String(noon + 1500))
        let failed = await call("/inApps/v1/transactions/T1")
        #expect(failed.status == 500)
        #expect(try JSON.parse(failed.body)["errorCode"] == 5_000_001)
        #expect(await call("/inApps/v1/transactions/T1").status == 200)
        let finish = "/sandbox/inApps/v1/transactions/S1/finish"
        #expect(await call(finish, method: "POST").status == 503)
        #expect(await call(finish, method: "POST").status == 200)
    }
}
