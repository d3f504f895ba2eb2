import AppStore
import AppStoreStandIn
import Base
import Testing

@Suite struct `Notifications over HTTP` {
    private func sell(_ live: LiveStandIn, _ body: JSON = [:]) async throws -> String {
        var members = body.object?.members ?? []
        members.append(.init("productId", .string(product)))
        let sold = try await live.send("POST", "/purchases", .object(JSONObject(members)))
        #expect(sold.status == 201)
        return try #require(sold.json?["transactionId"]?.string)
    }

    private func setTarget(_ live: LiveStandIn) async throws {
        let answer = try await live.send(
            "PUT", "/notifications/target", ["url": .string(live.receiver.url)])
        #expect(answer.json?["production"] == .string(live.receiver.url))
        #expect(answer.json?["sandbox"] == .string(live.receiver.url))
    }

    @Test func `tell of a purchase and all that becomes of it`() async throws {
        try await withLiveStandIn { live in
            try await setTarget(live)
            let id = try await sell(live)
            await live.store.notifications.waitUntilIdle()
            for (verb, body) in [
                ("consumption-request", ["reason": "LEGAL"] as JSON?), ("refund-decline", nil),
                ("refund", ["percentage": 50_000, "reason": 1, "date": .integer(noon - 1)]),
                ("refund", nil), ("refund-reversal", nil),
            ] {
                let told = try await live.send("POST", "/transactions/\(id)/\(verb)", body)
                #expect(told.status == 200)
                #expect(told.json?["transactionId"] == .string(id))
                await live.store.notifications.waitUntilIdle()
                #expect(live.receiver.bodies.last?["signedPayload"] == told.json?["signedPayload"])
            }
            #expect(
                live.receiver.types == [
                    "ONE_TIME_CHARGE", "CONSUMPTION_REQUEST", "REFUND_DECLINED", "REFUND",
                    "REFUND", "REFUND_REVERSED",
                ])
            let payloads = live.receiver.payloads
            #expect(payloads[1]["data"]?["consumptionRequestReason"] == "LEGAL")
            let inner = payloads.map { payload in
                payload["data"]?["signedTransactionInfo"]?.string.flatMap { jwsPayload($0) }
            }
            #expect(inner.map { $0?["transactionId"] } == Array(repeating: .string(id), count: 6))
            #expect(
                inner.map { $0?["revocationPercentage"] } == [nil, nil, nil, 50_000, 100_000, nil])
            #expect(inner[3]?["revocationDate"] == .integer(noon - 1))
            #expect(inner[3]?["revocationType"] == "REFUND_PRORATED")
        }
    }

    @Test func `are not sent without a target, or if told so`() async throws {
        try await withLiveStandIn { live in
            _ = try await sell(live)
            try await setTarget(live)
            let id = try await sell(live, ["notify": false])
            for verb in ["refund", "refund-reversal", "refund-decline", "consumption-request"] {
                let told = try await live.send(
                    "POST", "/transactions/\(id)/\(verb)", ["notify": false])
                #expect(told.json?["signedPayload"]?.string != nil)
            }
            let gone = try await live.send(
                "PUT", "/notifications/target", ["url": nil, "environment": "Production"])
            #expect(gone.json?["production"] == .null)
            _ = try await sell(live)
            _ = try await sell(live, ["environment": "Xcode"])
            let list = try await live.send("GET", "/notifications")
            #expect(list.json == ["idle": true, "notifications": []])
            let unsent = try await live.send("POST", "/notifications/send", ["type": "TEST"])
            #expect(unsent.status == 409)
            // The sandbox still has one.
            _ = try await sell(live, ["environment": "Sandbox"])
            await live.store.notifications.waitUntilIdle()
            #expect(live.receiver.types == ["ONE_TIME_CHARGE"])
        }
    }

    @Test func `tell of a purchase when it's approved`() async throws {
        try await withLiveStandIn { live in
            try await setTarget(live)
            for (field, verb) in [("deferred", "approve"), ("interrupted", "resume")] {
                let begun = try await live.send(
                    "POST", "/purchases",
                    .object(JSONObject([.init("productId", "p"), .init(field, true)])))
                #expect(begun.status == 202)
                #expect(begun.json?["state"] == .string(field))
                let id = try #require(begun.json?["transactionId"]?.string)
                let seen = try await live.send("GET", "/transactions/\(id)")
                #expect(seen.json?["state"] == .string(field))
                #expect(seen.json?["signedTransaction"] == nil)
                let early = try await live.send("POST", "/transactions/\(id)/refund")
                #expect(early.status == 409)
                let count = live.receiver.bodies.count
                let approved = try await live.send("POST", "/transactions/\(id)/\(verb)")
                #expect(approved.status == 200)
                #expect(approved.json?["signedTransaction"]?.string != nil)
                await live.store.notifications.waitUntilIdle()
                #expect(live.receiver.bodies.count == count + 1)
                let again = try await live.send("POST", "/transactions/\(id)/\(verb)")
                #expect(again.json?["code"] == "wrong_state")
            }
            let begun = try await live.send(
                "POST", "/purchases", ["productId": "p", "deferred": true])
            let id = try #require(begun.json?["transactionId"]?.string)
            #expect(try await live.send("POST", "/transactions/\(id)/decline").status == 200)
            #expect(try await live.send("POST", "/transactions/\(id)/approve").status == 409)
        }
    }

    @Test func `are tried six times if the service fails, and once in the sandbox`() async throws {
        try await withLiveStandIn { live in
            try await setTarget(live)
            let clock = try await live.send(
                "PUT", "/notifications/clock", ["clockRate": 100_000_000])
            #expect(clock.json?["clockRate"] == 100_000_000)
            live.receiver.answer([500, 503, 404, 302, 207, 429, 500])
            let id = try await sell(live)
            await live.store.notifications.waitUntilIdle()
            #expect(live.receiver.bodies.count == 6)
            #expect(Set(live.receiver.bodies).count == 1)
            _ = try await sell(live, ["environment": "Sandbox"])
            await live.store.notifications.waitUntilIdle()
            #expect(live.receiver.bodies.count == 7)
            let list = try await live.send("GET", "/notifications?stage=failed")
            let failed = try #require(list.json?["notifications"]?.array)
            #expect(failed.map { $0["sendAttempts"]?.array?.count } == [6, 1])
            #expect(failed.first?["transactionId"] == .string(id))
            #expect(
                failed.first?["sendAttempts"]?.array?.first == [
                    "attemptDate": 1_796_049_240_000,
                    "sendAttemptResult": "UNSUCCESSFUL_HTTP_RESPONSE_CODE",
                ])
        }
    }

    @Test(arguments: [200, 202, 206])
    func `are done with any answer that says so`(status: Int) async throws {
        try await withLiveStandIn { live in
            try await setTarget(live)
            live.receiver.answer([status])
            _ = try await sell(live)
            await live.store.notifications.waitUntilIdle()
            #expect(live.store.notifications.list().map(\.stage) == [.delivered])
        }
    }

    @Test func `fail if nobody listens`() async throws {
        try await withLiveStandIn { live in
            live.store.notifications.setTarget("http://127.0.0.1:1/", environment: "Sandbox")
            _ = try await sell(live, ["environment": "Sandbox"])
            await live.store.notifications.waitUntilIdle()
            #expect(
                live.store.notifications.list().map { $0.attempts.map(\.result) }
                    == [[.socketIssue]])
        }
    }

    @Test func `tell of many purchases at once`() async throws {
        try await withLiveStandIn { live in
            live.store.notifications.setTarget(live.receiver.url)
            for index in 0..<200 {
                var purchase = StandInPurchase(productID: product)
                // Each device's receipt holds all that it has bought.
                purchase.device = "d\(index)"
                _ = try live.store.purchase(purchase)
            }
            await live.store.notifications.waitUntilIdle()
            let ids = Set(live.receiver.payloads.map { $0["notificationUUID"] })
            #expect(ids.count == 200)
            #expect(live.receiver.bodies.count == 200)
        }
    }

    @Test func `get lost, or their answers do`() async throws {
        try await withLiveStandIn { live in
            try await setTarget(live)
            live.store.notifications.setClockRate(100_000_000)
            for fault: JSON in [
                ["effect": "lose", "times": 2], ["effect": "lose_answer", "type": "REFUND"],
            ] {
                #expect(try await live.send("POST", "/notifications/faults", fault).status == 201)
            }
            let id = try await sell(live)
            await live.store.notifications.waitUntilIdle()
            #expect(live.receiver.bodies.count == 1)
            try live.store.refund(id)
            await live.store.notifications.waitUntilIdle()
            #expect(live.receiver.types == ["ONE_TIME_CHARGE", "REFUND", "REFUND"])
            #expect(
                live.store.notifications.list().map { $0.attempts.map(\.result) } == [
                    [.noResponse, .noResponse, .success], [.timedOut, .success],
                ])
            #expect(live.store.notifications.pendingFaults == 0)
        }
    }

    @Test func `arrive several times`() async throws {
        try await withLiveStandIn { live in
            try await setTarget(live)
            _ = try await live.send(
                "POST", "/notifications/faults", ["effect": "duplicate", "copies": 5])
            _ = try await sell(live)
            await live.store.notifications.waitUntilIdle()
            #expect(live.receiver.bodies.count == 6)
            #expect(Set(live.receiver.bodies).count == 1)
            let uuid = try #require(live.store.notifications.list().first?.notification.uuid)
            let again = try await live.send("POST", "/notifications/\(uuid)/resend")
            #expect(again.status == 202)
            await live.store.notifications.waitUntilIdle()
            #expect(live.receiver.bodies.count == 7)
            #expect(Set(live.receiver.bodies).count == 1)
            #expect(try await live.send("POST", "/notifications/x/resend").status == 404)
        }
    }

    @Test func `arrive in another order`() async throws {
        try await withLiveStandIn { live in
            try await setTarget(live)
            _ = try await live.send(
                "POST", "/notifications/faults",
                ["effect": "reorder", "behind": 2, "type": "ONE_TIME_CHARGE"])
            let id = try await sell(live)
            try live.store.refund(id)
            try live.store.reverseRefund(id)
            await live.store.notifications.waitUntilIdle()
            #expect(live.receiver.types.last == "ONE_TIME_CHARGE")
            #expect(live.receiver.types.count == 3)
            _ = try await live.send("POST", "/notifications/faults", ["effect": "reorder"])
            try live.store.declineRefund(id)
            #expect(live.receiver.types.count == 3)
            #expect(try await live.send("DELETE", "/notifications/faults").status == 200)
            await live.store.notifications.waitUntilIdle()
            #expect(live.receiver.types.last == "REFUND_DECLINED")
        }
    }

    @Test func `are signed wrongly`() async throws {
        try await withLiveStandIn { live in
            try await setTarget(live)
            let roots = try RootCertificates(files: [authority.root.der], allowPrivate: true)
            let verifier = SignedTransactionVerifier(roots: roots)
            for fault: JSON in [
                ["effect": "outer", "fault": "wrong_signature"], ["effect": "inner"],
            ] {
                _ = try await live.send("POST", "/notifications/faults", fault)
            }
            _ = try await sell(live)
            await live.store.notifications.waitUntilIdle()
            let sent = try #require(live.receiver.bodies.first?["signedPayload"]?.string)
            #expect(throws: SignedDataError.badSignature) {
                try verifier.verifyPayload(sent, now: noon)
            }
            let inner = try #require(
                jwsPayload(sent)?["data"]?["signedTransactionInfo"]?.string)
            #expect(throws: SignedDataError.untrustedChain) {
                try verifier.verify(inner, now: noon)
            }
        }
    }

    @Test func `are made without being sent, and sent as told`() async throws {
        try await withLiveStandIn { live in
            let id = try await sell(live)
            let body: JSON = [
                "type": "REFUND", "transactionId": .string(id), "subtype": "S",
                "notificationUUID": "u", "signedDate": 5, "environment": "Sandbox",
                "consumptionRequestReason": "OTHER", "fault": "wrong_bundle",
                "innerFault": "wrong_bundle", "payload": ["version": "3"],
                "data": ["status": 1], "transaction": ["quantity": 4],
            ]
            let made = try await live.send("POST", "/notifications/raw", body)
            #expect(made.status == 200)
            let payload = try #require(
                made.json?["signedPayload"]?.string.flatMap { jwsPayload($0) })
            let inner = try #require(payload["data"]?["signedTransactionInfo"])
            #expect(
                payload == [
                    "notificationType": "REFUND", "subtype": "S", "notificationUUID": "u",
                    "data": [
                        "bundleId": "com.example.other", "bundleVersion": "1",
                        "environment": "Sandbox", "signedTransactionInfo": inner,
                        "consumptionRequestReason": "OTHER", "status": 1,
                    ],
                    "signedDate": 5, "version": "3",
                ])
            let transaction = inner.string.flatMap { jwsPayload($0) }
            #expect(transaction?["quantity"] == 4)
            #expect(transaction?["bundleId"] == "com.example.other")
            #expect(transaction?["signedDate"] == 5)
            #expect(live.receiver.bodies == [])
            try await setTarget(live)
            let sent = try await live.send("POST", "/notifications/send", body)
            #expect(sent.status == 202)
            await live.store.notifications.waitUntilIdle()
            #expect(live.receiver.bodies.first?["signedPayload"] == sent.json?["signedPayload"])
        }
    }

    @Test(
        arguments: [
            ("PUT", "/target", ["url": "ftp://x"], 400), ("PUT", "/target", [:], 400),
            ("PUT", "/target", ["url": "http://x", "environment": "Xcode"], 400),
            ("PUT", "/clock", ["clockRate": 0], 400), ("PUT", "/clock", [:], 400),
            ("POST", "/faults", [:], 400), ("POST", "/faults", ["effect": "x"], 400),
            ("POST", "/faults", ["effect": "lose", "copies": 1], 400),
            ("POST", "/faults", ["effect": "duplicate", "copies": 11], 400),
            ("POST", "/faults", ["effect": "inner", "fault": "none"], 400),
            ("POST", "/raw", [:], 400), ("POST", "/raw", ["type": "X", "colour": 1], 400),
            ("POST", "/raw", ["type": "X", "transactionId": "T9"], 404),
            ("GET", "?stage=x", nil, 400), ("GET", "?limit=101", nil, 400),
            ("GET", "?colour=x", nil, 400), ("GET", "?after=%2", nil, 400),
            ("DELETE", "/target", nil, 404), ("GET", "/x", nil, 404),
        ] as [(String, String, JSON?, Int)])
    func `have levers that say what is wrong`(
        method: String, path: String, body: JSON?, status: Int
    ) async throws {
        try await withLiveStandIn { live in
            let answer = try await live.send(method, "/notifications" + path, body)
            #expect(answer.status == status)
            #expect(answer.json?["code"]?.string != nil)
            #expect(answer.json?["message"]?.string != nil)
        }
    }

    @Test func `are listed a part at a time`() async throws {
        try await withLiveStandIn { live in
            try await setTarget(live)
            var ids: [String] = []
            for _ in 0..<3 { ids.append(try await sell(live)) }
            await live.store.notifications.waitUntilIdle()
            let first = try await live.send("GET", "/notifications?limit=2")
            let entries = try #require(first.json?["notifications"]?.array)
            #expect(entries.map { $0["transactionId"] } == [.string(ids[0]), .string(ids[1])])
            #expect(entries.map { $0["stage"] } == ["delivered", "delivered"])
            let after = try #require(entries.last?["ordinal"]?.integer)
            let rest = try await live.send("GET", "/notifications?after=\(after)")
            #expect(
                rest.json?["notifications"]?.array?.map { $0["transactionId"] }
                    == [.string(ids[2])])
            let one = try await live.send("GET", "/notifications?transactionId=\(ids[1])")
            #expect(one.json?["notifications"]?.array?.count == 1)
        }
    }
}
