import AppStoreStandIn
import Base
import Testing

@Suite struct `The Server API over HTTP` {
    private func sell(
        _ live: LiveStandIn, _ id: String, _ change: (inout StandInPurchase) -> Void = { _ in }
    ) throws {
        var purchase = StandInPurchase(productID: product)
        purchase.transactionID = id
        change(&purchase)
        _ = try live.store.purchase(purchase)
    }

    private func ids(_ answer: LiveAnswer) -> [String?]? {
        answer.json?["signedTransactions"]?.array?.map { signed in
            signed.string.flatMap { jwsPayload($0) }?["transactionId"]?.string
        }
    }

    private func error(_ answer: LiveAnswer) -> Int64? { answer.json?["errorCode"]?.integer }

    @Test func `tells of a transaction, by any of its ids, in its environment only`() async throws {
        try await withLiveStandIn { live in
            try sell(live, "T1") { $0.originalTransactionID = "T0" }
            try live.store.finish("T1")
            for id in ["T1", "T0"] {
                let found = try await live.call("GET", "/inApps/v1/transactions/\(id)")
                #expect(found.status == 200)
                let signed = try #require(found.json?["signedTransactionInfo"]?.string)
                #expect(jwsPayload(signed)?["transactionId"] == "T1")
            }
            let elsewhere = try await live.call("GET", "/sandbox/inApps/v1/transactions/T1")
            #expect(elsewhere.status == 404)
            #expect(
                elsewhere.json == [
                    "errorCode": 4_040_010, "errorMessage": "Transaction id not found.",
                ])
            try sell(live, "S1") { $0.environment = "Sandbox" }
            #expect(
                try await live.call("GET", "/sandbox/inApps/v1/transactions/S1").status == 200)
            #expect(try await live.call("GET", "/inApps/v1/transactions/S1").status == 404)
            let waiting = try live.store.begin(StandInPurchase(productID: "p"), .askToBuy)
            #expect(try await live.call("GET", "/inApps/v1/transactions/\(waiting)").status == 404)
            let malformed = try await live.call("GET", "/inApps/v1/transactions/a%20b")
            #expect(error(malformed) == 4_000_006)
        }
    }

    @Test func `accepts no token but a genuine one`() async throws {
        try await withLiveStandIn { live in
            try sell(live, "T1")
            let key = live.store.apiKey
            let seconds = noon / 1000
            let tokens = [
                "x", "a.b.c", bearer(key) + "A", bearer(key, signedBy: SigningKey(.p256)),
                bearer(key) { header, _ in header["alg"] = "none" },
                bearer(key) { header, _ in header["kid"] = "OTHER" },
                bearer(key) { header, _ in header["typ"] = nil },
                bearer(key) { _, claims in claims["iss"] = "x" },
                bearer(key) { _, claims in claims["aud"] = "x" },
                bearer(key) { _, claims in claims["bid"] = "x" },
                bearer(key) { _, claims in claims["iat"] = nil },
                bearer(key) { _, claims in claims["exp"] = nil },
                bearer(key) { _, claims in claims["iat"] = .integer(seconds + 61) },
                bearer(key) { _, claims in
                    claims["iat"] = .integer(seconds - 300)
                    claims["exp"] = .integer(seconds)
                },
                bearer(key) { _, claims in claims["exp"] = .integer(seconds + 3601) },
                bearer(key) { _, claims in claims["iat"] = .integer(.min) },
            ]
            for token in tokens {
                let answer = try await live.send(
                    "GET", "/inApps/v1/transactions/T1", token: token)
                #expect(answer.status == 401)
            }
            #expect(try await live.send("GET", "/inApps/v1/transactions/T1").status == 401)
            let longest = bearer(key) { _, claims in claims["exp"] = .integer(seconds + 3600) }
            #expect(
                try await live.send("GET", "/inApps/v1/transactions/T1", token: longest).status
                    == 200)
        }
    }

    @Test func `hands out its key`() async throws {
        try await withLiveStandIn { live in
            let key = try await live.send("GET", "/api-key")
            #expect(key.json?["keyId"]?.string?.utf8.count == 10)
            #expect(key.json?["issuerId"]?.string?.utf8.count == 36)
            #expect(key.json?["bundleId"] == "com.nonchalant")
            let text = try #require(key.json?["privateKey"]?.string)
            #expect(text.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
            #expect(text.hasSuffix("-----END PRIVATE KEY-----\n"))
        }
    }

    @Test func `pages through a history by its revisions`() async throws {
        try await withLiveStandIn { live in
            for index in 1...45 { try sell(live, "T\(index)") }
            try sell(live, "OTHER") { $0.device = "other" }
            try sell(live, "SANDBOX") { $0.environment = "Sandbox" }
            try live.store.finish("T3")
            var seen: [String?] = []
            var counts: [Int] = []
            var revision = ""
            var hasMore = true
            while hasMore {
                let page = try await live.call("GET", "/inApps/v2/history/T7?\(revision)")
                #expect(page.status == 200)
                #expect(page.json?["bundleId"] == "com.nonchalant")
                #expect(page.json?["appAppleId"] == 1_234_567_890)
                #expect(page.json?["environment"] == "Production")
                let found = try #require(ids(page))
                seen += found
                counts.append(found.count)
                hasMore = page.json?["hasMore"] == true
                revision = "revision=\(page.json?["revision"]?.string ?? "")"
            }
            #expect(counts == [20, 20, 5])
            #expect(seen == (1...45).map { "T\($0)" })
            // What changes later comes again.
            try live.store.refund("T2")
            let later = try await live.call("GET", "/inApps/v2/history/T7?\(revision)")
            #expect(ids(later) == ["T2"])
            #expect(later.json?["hasMore"] == false)
            let wrong = try await live.call(
                "GET", "/inApps/v2/history/T7?sort=DESCENDING&\(revision)")
            #expect(error(wrong) == 4_000_005)
        }
    }

    @Test func `filters a history`() async throws {
        try await withLiveStandIn { live in
            try sell(live, "A") { $0.payload = JSONObject([.init("type", "Non-Consumable")]) }
            try sell(live, "B") { $0.productID = "p2" }
            try sell(live, "C") { $0.productID = "p/3" }
            try live.store.refund("B")
            for (query, expected) in [
                ("", ["A", "C", "B"]), ("sort=DESCENDING", ["B", "C", "A"]),
                ("productType=CONSUMABLE", ["C", "B"]),
                ("productType=NON_CONSUMABLE&productType=AUTO_RENEWABLE", ["A"]),
                ("productId=p2&productId=p%2F3", ["C", "B"]), ("revoked=true", ["B"]),
                ("revoked=false", ["A", "C"]), ("inAppOwnershipType=FAMILY_SHARED", []),
                ("startDate=\(noon)", ["A", "C", "B"]), ("startDate=\(noon + 1)", []),
                ("endDate=\(noon)", []), ("endDate=\(noon + 1)", ["A", "C", "B"]),
            ] {
                let page = try await live.call("GET", "/inApps/v2/history/A?\(query)")
                #expect(ids(page) == expected, "\(query)")
            }
        }
    }

    @Test func `tells refunds by their dates`() async throws {
        try await withLiveStandIn { live in
            for index in 1...25 {
                try sell(live, "T\(index)")
                try live.store.refund("T\(index)", date: noon - Int64(index))
            }
            try sell(live, "KEPT")
            let first = try await live.call("GET", "/inApps/v2/refund/lookup/KEPT")
            #expect(ids(first) == (6...25).reversed().map { "T\($0)" })
            #expect(first.json?["hasMore"] == true)
            let revision = try #require(first.json?["revision"]?.string)
            let second = try await live.call(
                "GET", "/inApps/v2/refund/lookup/KEPT?revision=\(revision)")
            #expect(ids(second) == (1...5).reversed().map { "T\($0)" })
            #expect(second.json?["hasMore"] == false)
        }
    }

    @Test func `looks up orders in production`() async throws {
        try await withLiveStandIn { live in
            for id in ["A", "B"] { try sell(live, id) { $0.orderID = "MORDER" } }
            try sell(live, "S") {
                $0.orderID = "MSANDBOX"
                $0.environment = "Sandbox"
            }
            let found = try await live.call("GET", "/inApps/v1/lookup/MORDER")
            #expect(found.json?["status"] == 0)
            #expect(ids(found) == ["A", "B"])
            for order in ["MSANDBOX", "NONE"] {
                let missing = try await live.call("GET", "/inApps/v1/lookup/\(order)")
                #expect(missing.json == ["status": 1, "signedTransactions": []])
            }
            #expect(try await live.call("GET", "/sandbox/inApps/v1/lookup/MORDER").status == 404)
            try sell(live, "C")
            let sale = try await live.send("GET", "/transactions/C")
            let order = try #require(sale.json?["orderId"]?.string)
            #expect(order.utf8.count == 13 && order.hasPrefix("M"))
            #expect(ids(try await live.call("GET", "/inApps/v1/lookup/\(order)")) == ["C"])
        }
    }

    @Test func `takes consumption information`() async throws {
        try await withLiveStandIn { live in
            try sell(live, "T1")
            let path = "/inApps/v2/transactions/consumption/T1"
            let body: JSON = [
                "customerConsented": true, "deliveryStatus": "DELIVERED",
                "sampleContentProvided": false, "consumptionPercentage": 40_000,
                "refundPreference": "GRANT_PRORATED",
            ]
            let taken = try await live.call("PUT", path, body)
            #expect(taken.status == 202)
            #expect(try live.store.consumption(of: "T1").latest == body)
            #expect(try live.store.consumption(of: "T1").count == 1)
            let sale = try await live.send("GET", "/transactions/T1")
            #expect(sale.json?["consumption"] == body)
            for (name, value, code) in [
                ("customerConsented", false, 4_000_035), ("deliveryStatus", "LOST", 4_000_036),
                ("sampleContentProvided", "no", 4_000_041),
                ("consumptionPercentage", 100_001, 4_000_000),
                ("consumptionPercentage", 0, 4_000_000),
                ("refundPreference", "MAYBE", 4_000_000), ("colour", "red", 4_000_000),
                ("deliveryStatus", "UNDELIVERED_OTHER", 4_000_000),
            ] as [(String, JSON, Int64)] {
                var members = body.object?.members.filter { $0.name != name } ?? []
                members.append(.init(name, value))
                let refused = try await live.call("PUT", path, .object(JSONObject(members)))
                #expect(refused.status == 400)
                #expect(error(refused) == code, "\(name)")
            }
            #expect(try live.store.consumption(of: "T1").count == 1)
            let unknown = try await live.call(
                "PUT", "/inApps/v2/transactions/consumption/T9", body)
            #expect(error(unknown) == 4_040_010)
        }
    }

    @Test func `sets a token and finishes`() async throws {
        try await withLiveStandIn { live in
            try sell(live, "T1") { $0.originalTransactionID = "T0" }
            let token = "E4E0B18B-0000-4000-8000-00000000000A"
            let path = "/inApps/v1/transactions/T0/appAccountToken"
            let set = try await live.call("PUT", path, ["appAccountToken": .string(token)])
            #expect(set.status == 200)
            let sale = try await live.send("GET", "/transactions/T1")
            let signed = try #require(sale.json?["signedTransaction"]?.string)
            #expect(
                jwsPayload(signed)?["appAccountToken"] == "e4e0b18b-0000-4000-8000-00000000000a")
            let notUUID = try await live.call("PUT", path, ["appAccountToken": "x"])
            #expect(error(notUUID) == 4_000_183)
            let notOriginal = try await live.call(
                "PUT", "/inApps/v1/transactions/T1/appAccountToken",
                ["appAccountToken": .string(token)])
            #expect(error(notOriginal) == 4_000_187)
            #expect(sale.json?["finished"] == false)
            let finished = try await live.call("POST", "/inApps/v1/transactions/T1/finish")
            #expect(finished.status == 200)
            let after = try await live.send("GET", "/transactions/T1")
            #expect(after.json?["finished"] == true)
            let unknown = try await live.call("POST", "/inApps/v1/transactions/T9/finish")
            #expect(error(unknown) == 4_040_010)
        }
    }

    @Test func `tells of the app that was bought`() async throws {
        try await withLiveStandIn { live in
            try sell(live, "T1")
            let answer = try await live.call(
                "GET", "/inApps/v1/transactions/appTransactions/T1")
            let signed = try #require(answer.json?["signedAppTransactionInfo"]?.string)
            #expect(jwsPayload(signed)?["bundleId"] == "com.nonchalant")
            #expect(jwsPayload(signed)?["receiptType"] == "Production")
        }
    }

    @Test func `sends test notifications and tells how it went`() async throws {
        try await withLiveStandIn { live in
            let none = try await live.call("POST", "/inApps/v1/notifications/test")
            #expect(error(none) == 4_040_007)
            live.api.setRateLimits(percentage: 0)
            live.store.notifications.setTarget(live.receiver.url)
            let asked = try await live.call("POST", "/sandbox/inApps/v1/notifications/test")
            let token = try #require(asked.json?["testNotificationToken"]?.string)
            await live.store.notifications.waitUntilIdle()
            #expect(live.receiver.types == ["TEST"])
            let path = "/inApps/v1/notifications/test/\(token)"
            let status = try await live.call("GET", "/sandbox" + path)
            #expect(status.status == 200)
            #expect(status.json?["signedPayload"] == live.receiver.bodies[0]["signedPayload"])
            #expect(
                status.json?["sendAttempts"]
                    == [["attemptDate": 1_796_049_240_000, "sendAttemptResult": "SUCCESS"]])
            #expect(error(try await live.call("GET", path)) == 4_040_008)
        }
    }

    @Test func `pages through the notifications that were sent`() async throws {
        try await withLiveStandIn { live in
            live.store.notifications.setTarget(live.receiver.url, environment: "Production")
            live.receiver.answer([500])
            for index in 1...23 {
                try sell(live, "T\(index)")
                // The first one stays waiting for its second attempt.
                if index == 1 {
                    try #require(await live.waitForAttempts(1))
                }
            }
            try live.store.refund("T5")
            try #require(await live.waitForAttempts(24))
            let path = "/inApps/v1/notifications/history"
            let span: JSON = ["startDate": .integer(noon), "endDate": .integer(noon)]
            let first = try await live.call("POST", path, span)
            #expect(first.json?["notificationHistory"]?.array?.count == 20)
            #expect(first.json?["hasMore"] == true)
            let token = try #require(first.json?["paginationToken"]?.string)
            let second = try await live.call("POST", path + "?paginationToken=\(token)", span)
            #expect(second.json?["notificationHistory"]?.array?.count == 4)
            #expect(second.json?["hasMore"] == false)
            #expect(second.json?["paginationToken"] == nil)
            for (name, value, count) in [
                ("onlyFailures", true, 1), ("transactionId", "T5", 2),
                ("notificationType", "REFUND", 1),
            ] as [(String, JSON, Int)] {
                let body = JSONObject((span.object?.members ?? []) + [.init(name, value)])
                let found = try await live.call("POST", path, .object(body))
                #expect(found.json?["notificationHistory"]?.array?.count == count, "\(name)")
            }
            let elsewhere = try await live.call("POST", "/sandbox" + path, span)
            #expect(elsewhere.json == ["hasMore": false, "notificationHistory": []])
        }
    }

    @Test(
        arguments: [
            ("startDate=x", 4_000_015), ("endDate=-1", 4_000_016),
            ("startDate=2&endDate=1", 4_000_013), ("sort=UP", 4_000_021),
            ("productType=X", 4_000_022), ("productId=", 4_000_023), ("revoked=1", 4_000_030),
            ("inAppOwnershipType=X", 4_000_026), ("revision=x", 4_000_005),
            ("colour=red", 4_000_000),
        ] as [(String, Int64)])
    func `says what is wrong with a query`(query: String, code: Int64) async throws {
        try await withLiveStandIn { live in
            try sell(live, "T1")
            let answer = try await live.call("GET", "/inApps/v2/history/T1?\(query)")
            #expect(answer.status == 400)
            #expect(error(answer) == code)
        }
    }

    @Test(
        arguments: [
            (["endDate": 1], 4_000_015), (["startDate": 1], 4_000_016),
            (["startDate": 2, "endDate": 1], 4_000_013),
            (["startDate": 1, "endDate": 2], 4_000_012),
            (
                [
                    "startDate": .integer(noon), "endDate": .integer(noon),
                    "notificationSubtype": "x",
                ],
                4_000_018
            ),
            (
                [
                    "startDate": .integer(noon), "endDate": .integer(noon), "notificationType": "x",
                    "transactionId": "T1",
                ], 4_000_019
            ),
            (
                ["startDate": .integer(noon), "endDate": .integer(noon), "onlyFailures": 1],
                4_000_000
            ),
            (["colour": "red"], 4_000_000),
        ] as [(JSON, Int64)])
    func `says what is wrong with a search for notifications`(
        body: JSON, code: Int64
    ) async throws {
        try await withLiveStandIn { live in
            let answer = try await live.call("POST", "/inApps/v1/notifications/history", body)
            #expect(answer.status == 400)
            #expect(error(answer) == code)
        }
    }

    @Test func `has nothing at other paths`() async throws {
        try await withLiveStandIn { live in
            for (method, path) in [
                ("GET", "/inApps"), ("GET", "/inApps/v9/transactions/T1"),
                ("POST", "/inApps/v1/transactions/T1"), ("GET", "/inApps/v1/x/y/z"),
            ] {
                let answer = try await live.call(method, path)
                #expect(answer.status == 404)
            }
        }
    }
}
