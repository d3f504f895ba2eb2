import AppStoreStandIn
import Base
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct `Reading an account` {
    @Test func `that nothing has happened to gives zeros at version 0`() async throws {
        try await World.run { world throws in
            let answer = try world.get("/v1/accounts/nobody/balance")
            #expect(answer.status == 200)
            #expect(answer["ETag"] == "\"0\"")
            let asOf = try #require(answer.json["asOf"])
            let nothing: [(String, JSON)] = [
                ("paid", 0), ("free", 0), ("total", 0), ("available", 0), ("held", 0),
                ("debt", 0), ("nextExpiry", nil),
            ]
            let members = nothing.map { JSONObject.Member($0, $1) }
            #expect(
                answer.json
                    == .object(
                        JSONObject(
                            [.init("accountId", "nobody"), .init("version", 0)] + members + [
                                .init("sandbox", .object(JSONObject(members))),
                                .init("asOf", asOf),
                            ])))
            #expect(
                try world.get("/v1/accounts/nobody/events").json
                    == ["accountId": "nobody", "events": [], "next": nil])
        }
    }

    @Test func `is answered 304 while its version is the one the reader has`() async throws {
        try await World.run { world throws in
            func status(_ tags: String, method: String = "GET") throws -> Int {
                let question = HTTPQuestion(
                    method, "/v1/accounts/u1/balance",
                    headers: [
                        ("Authorization", "Bearer \(world.ledger.keys.reader)"),
                        ("If-None-Match", tags),
                    ])
                let answer = try world.ask(question)
                #expect(answer["ETag"] != nil)
                if answer.status == 304 { #expect(answer.body == []) }
                return answer.status
            }
            #expect(try status("\"0\"") == 304)
            #expect(try world.post(world.shop.sell()).status == 201)
            #expect(try status("\"0\"") == 200)
            for tags in ["\"2\"", "W/\"2\"", "\"1\", \"2\"", "*"] {
                #expect(try status(tags) == 304, "\(tags)")
                #expect(try status(tags, method: "HEAD") == 304, "\(tags)")
            }
            for tags in ["2", "\"3\"", "", "\"22\""] {
                #expect(try status(tags) == 200, "\(tags)")
            }
        }
    }

    @Test func `shows its events in pages, oldest first`() async throws {
        try await World.run { world throws in
            for _ in 0..<3 { _ = try world.post(world.shop.sell()) }
            func page(_ query: String) throws -> JSON {
                try world.get("/v1/accounts/u1/events\(query)").json
            }
            var versions: [Int64] = []
            var types: [String] = []
            var query: String? = "?limit=4"
            var pages = 0
            while let next = query {
                let answer = try page(next)
                for event in answer["events"]?.array ?? [] {
                    versions.append(event["version"]?.integer ?? 0)
                    types.append(event["type"]?.string ?? "")
                }
                query = answer["next"]?.string.map { "?limit=4&after=\($0)" }
                pages += 1
            }
            #expect(versions == [1, 2, 3, 4, 5, 6])
            #expect(pages == 2)
            #expect(types.prefix(2) == ["PurchaseRecorded", "CoinsGranted"])
            #expect(try page("?limit=6")["next"] == .null)
            #expect(try page("?limit=5")["next"]?.string != nil)
            #expect(try page("?limit=200").object?.members.count == 3)
        }
    }

    @Test func `shows what was bought and what it was worth`() async throws {
        try await World.run { world throws in
            let sale = try world.shop.sell("com.nonchalant.consumable1") {
                ($0.transactionID, $0.price, $0.currency, $0.storefront) =
                    ("T1", 120_000, "JPY", "JPN")
            }
            #expect(try world.post(sale).status == 201)
            let events = try world.get("/v1/accounts/u1/events").json["events"]?.array ?? []
            #expect(events.count == 2)
            let purchase = events[0]["data"]
            #expect(purchase?["transactionId"] == "T1")
            #expect(purchase?["priceMilliunits"] == 120_000)
            #expect(purchase?["currency"] == "JPY")
            #expect(purchase?["storefront"] == "JPN")
            #expect(purchase?["quantity"] == 1)
            #expect(purchase?["catalogueVersion"] == "test-1")
            let lots = events[1]["data"]?["lots"]?.array ?? []
            #expect(
                events[1]["data"] == [
                    "environment": "Production",
                    "source": [
                        "type": "purchase", "store": "app_store", "environment": "Production",
                        "transactionId": "T1",
                    ],
                    "lots": [
                        [
                            "number": 1, "kind": "paid", "coins": 100,
                            "priceMilliunits": 120_000, "currency": "JPY",
                        ],
                        [
                            "number": 2, "kind": "free", "coins": 10,
                            "expiresAt": lots.last?["expiresAt"] ?? .null,
                        ],
                    ],
                ])
        }
    }

    @Test func `with an unknown or wrong parameter is refused and the parameter named`()
        async throws
    {
        try await World.run { world throws in
            let queries: [(query: String, detail: String?)] = [
                ("events?limit=0", "limit"), ("events?limit=201", "limit"),
                ("events?limit=x", "limit"), ("events?limit=", "limit"), ("events?limit", "limit"),
                ("events?limit=99999999999999999999", "limit"), ("events?type=x", "type"),
                ("events?before=1", "before"), ("events?limit=1&limit=1", "limit"),
                ("events?%zz=1", nil), ("balance?currency=JPY", "currency"),
                ("receipts?dry=1", "dry"),
            ]
            for (query, detail) in queries {
                var question = HTTPQuestion(
                    query.hasPrefix("receipts") ? "POST" : "GET", "/v1/accounts/u1/\(query)",
                    headers: [("Authorization", "Bearer \(world.ledger.keys.backend)")])
                if question.method == "POST" { question.body = Array("{}".utf8) }
                let answer = try world.ask(question)
                #expect(answer.status == 400, "\(query)")
                #expect(answer.code == "invalid_parameter", "\(query)")
                #expect(answer.json["detail"]?.string == detail, "\(query)")
            }
        }
    }

    @Test func `under an id that can't be one is refused`() async throws {
        try await World.run { world throws in
            let long = String(repeating: "a", count: 64)
            for id in ["u%31", "A-z.0_9:", long, "u1%3Ax"] {
                #expect(try world.get("/v1/accounts/\(id)/balance").status == 200, "\(id)")
            }
            for id in [long + "a", "", "a%20b", "a%2Fb", "%C3%A4", "%00", "%", "%zz", "a@b", "a+b"]
            {
                let answer = try world.get("/v1/accounts/\(id)/balance")
                #expect(answer.status == 400, "\(id)")
                #expect(answer.code == "invalid_account_id", "\(id)")
            }
        }
    }

    @Test func `on a path or with a method that isn't known is refused`() async throws {
        try await World.run { world throws in
            for path in [
                "/", "/v1", "/v2/accounts/u1/balance", "/v1/accounts/u1/balance/", "/LIVEZ",
            ] {
                let answer = try world.get(path)
                #expect(answer.status == 404, "\(path)")
                #expect(answer.code == "not_found", "\(path)")
            }
            let wrong = [
                ("DELETE", "/v1/accounts/u1/balance", "GET, HEAD"),
                ("POST", "/v1/accounts/u1/balance", "GET, HEAD"),
                ("GET", "/v1/accounts/u1/receipts", "POST"), ("POST", "/livez", "GET, HEAD"),
                ("GET", "/v1/accounts/u1/app-account-token", "PUT"),
            ]
            for (method, path, allowed) in wrong {
                let answer = try world.ask(HTTPQuestion(method, path))
                #expect(answer.status == 405, "\(method) \(path)")
                #expect(answer.code == "method_not_allowed", "\(method) \(path)")
                #expect(answer["Allow"] == allowed, "\(method) \(path)")
            }
            for path in ["/livez", "/readyz", "/metrics", "/openapi.json"] {
                let answer = try world.ask(HTTPQuestion("HEAD", path))
                #expect(answer.status == 200, "\(path)")
            }
        }
    }

    @Test func `and posting to it is counted by route, status and outcome`() async throws {
        try await World.run { world throws in
            let sale = try world.shop.sell()
            for _ in 0..<4 { _ = try world.post(sale) }
            _ = try world.post(sale.receipt)
            _ = try world.post("AAAA")
            _ = try world.get("/v1/accounts/u1/balance")
            _ = try world.get("/nowhere")
            let answer = try world.get("/metrics")
            #expect(answer["Content-Type"] == "text/plain; version=0.0.4")
            let lines = Set(answer.text.split(separator: "\n").map(String.init))
            let receipts = "route=\"/v1/accounts/{accountId}/receipts\""
            let expected = [
                "coinledger_receipt_outcomes_total{outcome=\"granted\"} 1",
                "coinledger_receipt_outcomes_total{outcome=\"already_granted\"} 4",
                "coinledger_untrusted_receipts_total{code=\"receipt_is_something_else\"} 1",
                "coinledger_http_requests_total{\(receipts),status=\"201\"} 1",
                "coinledger_http_requests_total{\(receipts),status=\"409\"} 4",
                "coinledger_http_requests_total{\(receipts),status=\"400\"} 1",
                "coinledger_http_requests_total{route=\"/v1/accounts/{accountId}/balance\","
                    + "status=\"200\"} 1",
                "coinledger_http_requests_total{route=\"other\",status=\"404\"} 1",
                "coinledger_verification_seconds_count{kind=\"signed_transaction\"} 4",
                "coinledger_verification_seconds_count{kind=\"app_receipt\"} 1",
                "coinledger_writer_commit_seconds_count 1",
                "coinledger_writer_batch_commands_count 5",
                "coinledger_writer_overloads_total 0",
            ]
            for line in expected { #expect(lines.contains(line), "\(line)") }
            #expect(lines.contains { $0.hasPrefix("coinledger_writer_queue_commands{lane=") })
        }
    }
}
