import Base
import CoinLedger
import CoinLedgerService
import LedgerTestSupport
import TestSupport
import Testing

@Suite struct `A balance` {
    @Test func `as it was is what the events up to there come to`() async throws {
        try await TestApp.run { app in
            let gift = await app.post(
                "grants", ["coins": 10, "reason": "x", "expiresAt": "2026-11-30T12:30:00Z"])
            app.setTime("2026-11-30T12:10:00Z")
            try await app.buy("T1", paid: 100)
            app.setTime("2026-11-30T12:20:00Z")
            _ = await app.post("spends", ["coins": 60, "purpose": "x"])
            app.setTime("2026-11-30T13:00:00Z")
            let totals: [(query: String, total: JSON, version: JSON)] = [
                ("at=2026-11-30T11:59:59.999Z", 0, 0), ("at=2026-11-30T12:00:00Z", 10, 1),
                ("at=2026-11-30T12:19:59.999Z", 110, 3), ("at=2026-11-30T21:20:00%2B09:00", 50, 4),
                ("at=2026-11-30T13:00:00Z", 50, 4),
                ("eventId=\(gift.json["eventId"]?.string ?? "")", 10, 1),
            ]
            for (query, total, version) in totals {
                let answer = await app.ask("GET", "/v1/accounts/u1/balance?\(query)", scope: .read)
                #expect(answer.status == 200)
                #expect(answer["ETag"] == nil)
                #expect(answer.json["total"] == total, "\(query)")
                #expect(answer.json["version"] == version, "\(query)")
            }
            #expect(
                await app.balance("?at=2026-11-30T11:00:00Z")["asOf"] == "2026-11-30T11:00:00.000Z")
        }
    }

    @Test func `at no such instant or event is refused`() async throws {
        try await TestApp.run { app in
            let gift = await app.give(1)
            let id = gift.json["eventId"]?.string ?? ""
            for path in [
                "u2/balance?eventId=\(id)", "u1/balance?eventId=0-99", "u1/balance?eventId=x",
            ] {
                let answer = await app.ask("GET", "/v1/accounts/\(path)")
                #expect((answer.status, answer.code) == (404, "event_not_found"), "\(path)")
            }
            for (query, detail): (String, JSON) in [
                ("at=2026-11-30T12:00:00.001Z", "at"), ("at=2026-11-30", "at"), ("at=", "at"),
                ("at=2026-11-30T12:00:00Z&eventId=\(id)", "at"), ("byLot=1", "byLot"),
            ] {
                let answer = await app.ask("GET", "/v1/accounts/u1/balance?\(query)")
                #expect((answer.status, answer.code) == (400, "invalid_parameter"), "\(query)")
                #expect(answer.json["detail"] == detail)
            }
        }
    }

    @Test func `by lot lists what it's made of`() async throws {
        try await TestApp.run { app in
            try await app.buy("T1", paid: 100)
            _ = await app.post(
                "grants", ["coins": 10, "reason": "x", "expiresAt": "2026-11-30T12:05:00Z"])
            _ = await app.post("holds", ["coins": 4, "purpose": "x"])
            _ = await app.post(
                "grants", ["coins": 3, "reason": "x", "environment": "Sandbox", "expiresAt": nil])
            func lot(_ number: JSON, _ remaining: JSON, _ held: JSON) -> JSON {
                let expiry: JSON = number == 2 ? "2026-11-30T12:05:00.000Z" : .null
                return [
                    "number": number, "environment": number == 3 ? "Sandbox" : "Production",
                    "kind": number == 1 ? "paid" : "free",
                    "coins": number == 1 ? 100 : number == 2 ? 10 : 3, "remaining": remaining,
                    "held": held, "expiresAt": expiry,
                ]
            }
            let now = await app.balance("?byLot=true")
            #expect(now["lots"] == [lot(1, 100, 0), lot(2, 10, 4), lot(3, 3, 0)])
            #expect(now["lotsTruncated"] == false)
            #expect(now["total"] == 110)
            // Of coins whose time is over only those on hold can still be used.
            app.setTime("2026-11-30T12:05:00Z")
            let later = await app.balance("?byLot=true")
            #expect(later["lots"] == [lot(1, 100, 0), lot(2, 4, 4), lot(3, 3, 0)])
            #expect(later["total"] == 104)
            let before = await app.balance("?byLot=true&at=2026-11-30T12:00:00Z")
            #expect(before["lots"] == now["lots"])
        }
    }

    @Test func `has another entity tag when coins expire`() async throws {
        try await TestApp.run { app in
            func tag() async -> String? { await app.ask("GET", "/v1/accounts/u1/balance")["ETag"] }
            #expect(await tag() == "\"0\"")
            try await app.buy("T1", paid: 100)
            #expect(await tag() == "\"2\"")
            _ = await app.post(
                "grants", ["coins": 10, "reason": "x", "expiresAt": "2026-11-30T12:05:00Z"])
            _ = await app.post("holds", ["coins": 14, "purpose": "x"])
            var tags = [await tag()]
            for time in ["2026-11-30T12:05:00Z", "2026-11-30T12:15:00Z"] as [Timestamp] {
                app.setTime(time)
                tags.append(await tag())
            }
            #expect(Set(tags).count == 3)
            #expect(await tag() == "\"4\"")
        }
    }
}

@Suite struct `The events of an account` {
    @Test func `are shown in pages that hold while more arrive`() async throws {
        try await TestApp.run { app in
            for _ in 0..<5 { _ = await app.give(1) }
            func page(_ query: String) async -> JSON {
                await app.ask("GET", "/v1/accounts/u1/events?\(query)", scope: .read).json
            }
            var versions: [Int64] = []
            var query = "limit=2"
            while true {
                let answer = await page(query)
                versions += (answer["events"]?.array ?? []).compactMap { $0["version"]?.integer }
                guard let next = answer["next"]?.string else { break }
                if versions.count == 4 { _ = await app.give(1) }
                query = "limit=2&after=\(next)"
            }
            #expect(versions == [1, 2, 3, 4, 5, 6])
            #expect(await page("limit=6")["next"] == .null)
        }
    }

    @Test func `are found by type and by time`() async throws {
        try await TestApp.run { app in
            try await app.buy("T1", paid: 100)
            app.setTime("2026-11-30T12:10:00Z")
            _ = await app.post("spends", ["coins": 1, "purpose": "x"])
            app.setTime("2026-11-30T12:20:00Z")
            _ = await app.give(1)
            func versions(_ query: String) async -> [Int64] {
                let answer = await app.ask("GET", "/v1/accounts/u1/events?\(query)")
                #expect(answer.status == 200)
                return (answer.json["events"]?.array ?? []).compactMap { $0["version"]?.integer }
            }
            #expect(await versions("type=CoinsGranted") == [2, 4])
            #expect(await versions("type=CoinsSpent,PurchaseRecorded") == [1, 3])
            #expect(await versions("type=CoinsSpent&type=CoinsGranted") == [2, 3, 4])
            #expect(await versions("type=CoinsExpired") == [])
            #expect(await versions("from=2026-11-30T12:10:00Z") == [3, 4])
            #expect(await versions("until=2026-11-30T12:10:00Z") == [1, 2])
            #expect(
                await versions(
                    "from=2026-11-30T12:00:00.001Z&until=2026-11-30T12:20:00Z&type=CoinsSpent")
                    == [3])
            for (query, detail): (String, JSON) in [
                ("type=CoinsGiven", "type"), ("type=", "type"), ("type=CoinsSpent,", "type"),
                ("from=yesterday", "from"), ("until=1", "until"),
                ("from=2026-11-30T12:00:00Z&from=2026-11-30T12:00:00Z", "from"),
            ] {
                let answer = await app.ask("GET", "/v1/accounts/u1/events?\(query)")
                #expect((answer.status, answer.code) == (400, "invalid_parameter"), "\(query)")
                #expect(answer.json["detail"] == detail)
            }
        }
    }

    @Test func `go on only where a page of the same list has ended`() async throws {
        try await TestApp.run { app in
            for account in ["u1", "u2"] {
                for key in ["a", "b"] {
                    _ = await app.ask(
                        "POST", "/v1/accounts/\(account)/grants", ["coins": 1, "reason": "x"],
                        key: key)
                }
            }
            let first = await app.ask("GET", "/v1/accounts/u1/events?type=CoinsGranted&limit=1")
            let next = try #require(first.json["next"]?.string)
            func status(_ target: String) async -> Int {
                let answer = await app.ask("GET", "/v1/accounts/\(target)&after=\(next)")
                #expect(answer.code == (answer.status == 200 ? nil : "invalid_cursor"))
                return answer.status
            }
            #expect(await status("u1/events?limit=1&type=CoinsGranted") == 200)
            #expect(await status("u1/events?limit=9&type=CoinsGranted,CoinsGranted") == 200)
            for target in [
                "u1/events?limit=1", "u2/events?type=CoinsGranted", "u1/lots?limit=1",
                "u1/events?type=CoinsGranted,CoinsSpent",
                "u1/events?type=CoinsGranted&from=2026-11-30T12:00:00Z",
            ] {
                #expect(await status(target) == 400, "\(target)")
            }
            for cursor in ["", "1", "-1", "AAAA", next + "A", String(next.dropLast())] {
                let answer = await app.ask(
                    "GET", "/v1/accounts/u1/events?type=CoinsGranted&after=\(cursor)")
                #expect((answer.status, answer.code) == (400, "invalid_cursor"), "\(cursor)")
                #expect(answer.json["detail"] == "after")
            }
        }
    }

    @Test func `are found one by one, whosever they are`() async throws {
        try await TestApp.run { app in
            let gift = await app.give(7)
            let id = try #require(gift.json["eventId"]?.string)
            let answer = await app.ask("GET", "/v1/events/\(id)", scope: .read)
            #expect(answer.json["accountId"] == "u1")
            #expect(answer.json["eventId"] == .string(id))
            #expect(answer.json["type"] == "CoinsGranted")
            for id in ["0-99", "x", "01-1", "0-0", "%zz"] {
                let answer = await app.ask("GET", "/v1/events/\(id)")
                #expect((answer.status, answer.code) == (404, "event_not_found"), "\(id)")
            }
        }
    }
}

@Suite struct `The lots of an account` {
    @Test func `are shown in pages, all of them or the open ones`() async throws {
        try await TestApp.run { app in
            for coins in 1...3 { _ = await app.give(Int64(coins)) }
            _ = await app.post("spends", ["coins": 2, "purpose": "x"])
            func numbers(_ query: String) async -> [[Int64]] {
                var pages: [[Int64]] = []
                var after = ""
                while true {
                    let answer = await app.ask("GET", "/v1/accounts/u1/lots?\(query)\(after)")
                    #expect(answer.status == 200)
                    pages.append(
                        (answer.json["lots"]?.array ?? []).compactMap { $0["number"]?.integer })
                    guard let next = answer.json["next"]?.string else { return pages }
                    after = "&after=\(next)"
                }
            }
            #expect(await numbers("limit=2") == [[1, 2], [3]])
            #expect(await numbers("openOnly=false&limit=3") == [[1, 2, 3]])
            #expect(await numbers("limit=1&openOnly=true") == [[2], [3]])
            let lots = await app.ask("GET", "/v1/accounts/u1/lots?openOnly=true", scope: .read)
            let first = lots.json["lots"]?.array?.first
            #expect(first?["coins"] == 2)
            #expect(first?["remaining"] == 1)
            #expect(first?["price"] == .null)
            #expect(first?["source"] == ["type": "gift", "campaignId": nil])
            let wrong = await app.ask("GET", "/v1/accounts/u1/lots?openOnly=1")
            #expect((wrong.status, wrong.code) == (400, "invalid_parameter"))
        }
    }

    @Test func `say where they came from`() async throws {
        try await TestApp.run { app in
            _ = await app.post("grants", ["coins": 1, "reason": "x", "campaignId": "c1"])
            _ = await app.post(
                "adjustments", ["coins": 1, "kind": "free", "reason": "x", "ticketId": "S-1"])
            let lots = await app.ask("GET", "/v1/accounts/u1/lots").json["lots"]?.array ?? []
            #expect(
                lots.map { $0["source"] } == [
                    ["type": "gift", "campaignId": "c1"], ["type": "support", "ticketId": "S-1"],
                ])
        }
    }
}
