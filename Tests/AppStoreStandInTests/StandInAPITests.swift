import AppStore
import AppStoreStandIn
import Base
import HTTPServer
import Testing

@Suite struct `The stand-in over HTTP` {
    private let slept = Lock<[Int64]>([])
    private let api: StandInAPI

    init() {
        api = StandInAPI(
            store: makeStore(),
            sleep: { [slept] milliseconds in slept.withLock { $0.append(milliseconds) } })
    }

    private func send(
        _ method: String, _ path: String, _ body: JSON? = nil, query: String? = nil
    ) async -> HTTPResponse {
        await api.respond(
            to: HTTPRequest(
                method: method, target: path, path: path, query: query,
                body: body?.bytes ?? []))
    }

    private func json(_ response: HTTPResponse) throws -> JSON { try JSON.parse(response.body) }

    @Test func `sells, verifies and finishes`() async throws {
        let sold = await send("POST", "/purchases", ["productId": .string(product), "device": "d"])
        #expect(sold.status == 201)
        let sale = try json(sold)
        #expect(sale["transactionId"] == "1796049240000001")
        #expect(sale["signedTransaction"]?.string?.split(separator: ".").count == 3)

        let receipt = try #require(sale["receipt"])
        let verified = await send("POST", "/verifyReceipt", ["receipt-data": receipt])
        let entries = try json(verified)["receipt"]?["in_app"]?.array
        #expect(entries?.map { $0["transaction_id"] } == ["1796049240000001"])
        let sandbox = await send("POST", "/sandbox/verifyReceipt", ["receipt-data": receipt])
        #expect(try json(sandbox) == ["status": 21008])
        let again = try #require(try json(await send("GET", "/receipts/d"))["receipt"])
        #expect(
            try json(await send("POST", "/verifyReceipt", ["receipt-data": again]))
                == json(verified))

        let finished = await send("POST", "/transactions/1796049240000001/finish")
        #expect(finished.status == 200)
        let left = try #require(try json(await send("GET", "/receipts/d"))["receipt"])
        let after = await send("POST", "/verifyReceipt", ["receipt-data": left])
        #expect(try json(after)["receipt"]?["in_app"] == [])
    }

    @Test func `takes every field of a purchase`() async throws {
        let sold = await send(
            "POST", "/purchases",
            [
                "productId": "p", "quantity": 2, "environment": "Sandbox", "transactionId": "T1",
                "originalTransactionId": "T0", "price": 5, "currency": "USD", "storefront": "USA",
                "appAccountToken": "e4e0b18b-0000-4000-8000-00000000000a", "device": "d",
                "fault": "wrong_bundle", "payload": ["type": "Other"],
            ])
        let token = try #require(try json(sold)["signedTransaction"]?.string)
        let segment = String(token.split(separator: ".")[1])
        let payload = try JSON.parse(#require(Base64.decode(segment, .url)))
        let expected: [(String, JSON)] = [
            ("productId", "p"), ("quantity", 2), ("environment", "Sandbox"),
            ("transactionId", "T1"), ("originalTransactionId", "T0"), ("price", 5),
            ("currency", "USD"), ("storefront", "USA"), ("bundleId", "com.example.other"),
            ("appAccountToken", "e4e0b18b-0000-4000-8000-00000000000a"), ("type", "Other"),
        ]
        for (name, value) in expected { #expect(payload[name] == value) }
        let answer = await send("GET", "/receipts/d", query: "environment=Sandbox")
        let receipt = try #require(try json(answer)["receipt"])
        let verified = await send("POST", "/sandbox/verifyReceipt", ["receipt-data": receipt])
        let entry = try json(verified)["receipt"]?["in_app"]?.array?.first
        #expect(entry?["transaction_id"] == "T1")
        #expect(entry?["quantity"] == "2")
    }

    @Test(
        arguments: [
            ("POST", "/purchases", nil, 400), ("POST", "/purchases", [:], 400),
            ("POST", "/purchases", ["productId": 5], 400),
            ("POST", "/purchases", ["productId": "p", "quantity": "1"], 400),
            ("POST", "/purchases", ["productId": "p", "fault": "none"], 400),
            ("POST", "/purchases", ["productId": "p", "colour": "red"], 400),
            ("POST", "/purchases", ["productId": "p", "device": "a b"], 400),
            ("GET", "/purchases", nil, 404), ("POST", "/transactions/T9/finish", nil, 404),
            ("POST", "/faults", ["endpoint": "verifyReceipt"], 400),
            ("POST", "/faults", ["endpoint": "verifyReceipt", "status": 99], 400),
            ("POST", "/faults", ["status": 500], 400),
            ("POST", "/faults", ["endpoint": "x", "reset": true, "times": 0], 400),
            ("POST", "/faults", ["endpoint": "x", "delayMilliseconds": 60001], 400),
            ("POST", "/purchases", ["productId": "p", "deferred": true, "interrupted": true], 400),
            ("POST", "/transactions/T9/refund", nil, 404),
            ("POST", "/transactions/T9/refund", ["percentage": 0], 400),
            ("POST", "/transactions/T9/refund", ["percentage": 100_001], 400),
            ("POST", "/transactions/T9/refund", ["reason": 2], 400),
            ("POST", "/transactions/T9/refund", ["date": -1], 400),
            ("POST", "/transactions/T9/refund-reversal", ["percentage": 1], 400),
            ("POST", "/transactions/T9/consumption-request", ["reason": 1], 400),
            ("POST", "/transactions/T9/approve", nil, 404),
            ("POST", "/transactions/T9/resume", nil, 404),
            ("POST", "/transactions/T9/decline", nil, 404),
            ("GET", "/transactions/T9", nil, 404), ("GET", "/transactions", nil, 404),
            ("POST", "/transactions/T9/other", nil, 404),
            ("POST", "/faults", ["endpoint": "x", "errorCode": 1], 400),
            ("POST", "/faults", ["endpoint": "x", "retryAfterMilliseconds": 1], 400),
            ("GET", "/", nil, 404), ("GET", "/receipts/a%20b", nil, 404),
        ] as [(String, String, JSON?, Int)])
    func `says in JSON what is wrong`(
        method: String, path: String, body: JSON?, status: Int
    ) async throws {
        let response = await send(method, path, body)
        #expect(response.status == status)
        #expect(try json(response)["code"]?.string != nil)
        #expect(try json(response)["message"]?.string != nil)
    }

    @Test(arguments: ["GET", "POST"])
    func `answers a request that is none as Apple does`(method: String) async throws {
        #expect(
            try json(await send(method, "/verifyReceipt", ["receipt": "x"])) == ["status": 21000])
    }

    @Test func `fails as often as asked and no more`() async throws {
        _ = await send(
            "POST", "/faults", ["endpoint": "verifyReceipt", "times": 2, "status": 503])
        _ = await send("POST", "/faults", ["endpoint": "verifyReceipt", "receiptStatus": 21005])
        var statuses: [Int] = []
        for _ in 0..<2 { statuses.append(await send("POST", "/verifyReceipt").status) }
        #expect(statuses == [503, 503])
        #expect(try json(await send("POST", "/verifyReceipt")) == ["status": 21005])
        #expect(try json(await send("POST", "/verifyReceipt")) == ["status": 21000])
    }

    @Test func `fails in every way there is`() async throws {
        for fault: JSON in [
            ["endpoint": "verifyReceipt", "html": true],
            ["endpoint": "verifyReceipt", "html": true, "status": 500],
            ["endpoint": "verifyReceipt", "reset": true],
            ["endpoint": "verifyReceipt", "receiptStatus": 21100, "isRetryable": false],
            ["endpoint": "verifyReceipt", "delayMilliseconds": 700],
        ] {
            #expect(await send("POST", "/faults", fault).status == 201)
        }
        let page = await send("POST", "/verifyReceipt")
        #expect(page.status == 200)
        #expect(page.body.starts(with: "<html>".utf8))
        #expect(await send("POST", "/verifyReceipt").status == 500)
        #expect(await send("POST", "/verifyReceipt").isReset)
        #expect(
            try json(await send("POST", "/verifyReceipt"))
                == ["status": 21100, "is_retryable": false])
        #expect(slept.withLock { $0 } == [])
        #expect(try json(await send("POST", "/verifyReceipt")) == ["status": 21000])
        #expect(slept.withLock { $0 } == [700])
    }

    @Test func `fails only where it was asked to, until that is taken back`() async {
        for endpoint in ["purchases", "transactions/finish", "sandbox/verifyReceipt"] {
            api.add(StandInFault(endpoint: endpoint, times: 9, effect: .status(500)))
        }
        #expect(await send("POST", "/verifyReceipt").status == 200)
        for path in ["/purchases", "/transactions/T1/finish", "/sandbox/verifyReceipt"] {
            #expect(await send("POST", path).status == 500)
        }
        for (endpoint, path) in [
            ("transactions", "/transactions/T1"), ("receipts", "/receipts/d"),
        ] {
            #expect(await send("GET", path).status != 500)
            api.add(StandInFault(endpoint: endpoint, effect: .status(500)))
            #expect(await send("GET", path).status == 500)
        }
        #expect(await send("DELETE", "/faults").status == 200)
        #expect(await send("POST", "/sandbox/verifyReceipt").status == 200)
    }

    @Test func `remembers a hundred faults at most`() async {
        let fault = StandInFault(endpoint: "x", effect: .reset)
        for _ in 0..<100 { #expect(api.add(fault)) }
        #expect(!api.add(fault))
        let body: JSON = ["endpoint": "x", "reset": true]
        #expect(await send("POST", "/faults", body).status == 400)
    }

    @Test func `shows its root`() async {
        let response = await send("GET", "/root.pem")
        #expect(response.body == Array(authority.rootsPEM.utf8))
    }

    @Test func `makes receipts in unusual forms`() async throws {
        _ = await send("POST", "/purchases", ["productId": .string(product), "device": "d"])
        let verifier = AppReceiptVerifier(
            roots: try RootCertificates(
                files: [Array(authority.rootsPEM.utf8)], allowPrivate: true))
        func receipt(_ query: String) async throws -> AppReceipt {
            let response = await send("GET", "/receipts/d", query: query)
            #expect(response.status == 200, "\(query)")
            let text = try #require(try json(response)["receipt"]?.string)
            return try verifier.verify(try #require(Base64.decode(text)), now: noon)
        }
        for query in [
            "digest=sha1&oldCertificates=true", "openLengths=true&wrappings=2", "copies=3",
            "signedAttributes=true", "originals=false", "environment=Production",
        ] {
            #expect(try await receipt(query).transactions.map(\.productID) == [product])
        }
        #expect(try await receipt("productType=3").transactions == [])
        #expect(try await receipt("type=Xcode").environment == .xcode)
        #expect(try await receipt("environment=Sandbox").transactions == [])
        let then = noon - 1_000_000
        let historical = "createdAt=\(then)&leafValidFrom=\(then)&leafValidUntil=\(then + 1000)"
        #expect(try await receipt(historical).createdAt == then)
        let cancelled = try await receipt("cancelledAt=\(then)").transactions.first
        #expect(cancelled?.revocation?.date == then)
        for (fault, error) in [
            ("wrong_oid", AppReceiptError.missingLeafMarker), ("foreign_root", .untrustedChain),
            ("wrong_signature", .badSignature), ("xcode", .untrustedChain),
        ] {
            await #expect(throws: error) { try await receipt("fault=\(fault)") }
        }
        for query in ["fault=none", "digest=md5", "copies=0", "wrappings=x", "originals=1", "a=b"] {
            #expect(await send("GET", "/receipts/d", query: query).status == 400)
        }
    }

    @Test func `answers for its certificates as it's told`() async {
        for status in ["good", "revoked", "unknown"] {
            #expect(await send("PUT", "/ocsp", ["status": .string(status)]).status == 200)
        }
        #expect(await send("PUT", "/ocsp", ["status": "bad"]).status == 400)
        #expect(await send("POST", "/ocsp", [:]).status == 400)
    }
}
