import CoinLedger
import CoinLedgerService
import LedgerTestSupport
import Testing

@Suite struct `A policy file` {
    @Test func `has defaults for everything but its version`() throws {
        let policy = try PolicyFile.parse(Array(PolicyFile.defaultText.utf8))
        #expect(policy.version == "default-1")
        #expect(policy.consumption == .freeFirst)
        #expect(policy.refundShortfall == .debt)
        #expect(policy.freeExpiry?.days == 180)
        #expect(policy.freeExpiry?.zone.name == "Asia/Tokyo")
        #expect((policy.holdSeconds, policy.holdSecondsMax) == (900, 86_400))
    }

    @Test func `says everything`() throws {
        let policy = try PolicyFile.parse(
            Array(
                #"""
                {"version": "7", "consumption": "highest_unit_price_first",
                 "freeExpiry": {"days": 0, "timeZone": "UTC"}, "refundShortfall": "write_off",
                 "holdSeconds": 5, "holdSecondsMax": 60}
                """#.utf8))
        #expect(policy.version == "7")
        #expect(policy.consumption == .highestUnitPriceFirst)
        #expect(policy.refundShortfall == .writeOff)
        #expect(policy.freeExpiry?.expiry(of: .noon) == "2026-12-01T00:00:00Z")
        #expect((policy.holdSeconds, policy.holdSecondsMax) == (5, 60))
    }

    @Test func `may let free coins live for ever`() throws {
        let policy = try PolicyFile.parse(Array(#"{"version":"1","freeExpiry":null}"#.utf8))
        #expect(policy.freeExpiry == nil)
    }

    static let faults: [(text: String, reason: String)] = [
        ("[]", "isn't an object"),
        ("{", "isn't JSON"),
        ("{}", "a text version"),
        (#"{"version":""}"#, "a text version"),
        (#"{"version":"1","expiry":1}"#, "unknown field expiry"),
        (#"{"version":"1","consumption":"newest_first"}"#, "consumption is none of free_first"),
        (#"{"version":"1","refundShortfall":1}"#, "refundShortfall is none of debt"),
        (#"{"version":"1","freeExpiry":180}"#, "freeExpiry isn't"),
        (#"{"version":"1","freeExpiry":{"days":-1,"timeZone":"UTC"}}"#, "freeExpiry isn't"),
        (#"{"version":"1","freeExpiry":{"days":1}}"#, "freeExpiry isn't"),
        (#"{"version":"1","freeExpiry":{"days":1,"timeZone":"UTC","x":1}}"#, "freeExpiry isn't"),
        (#"{"version":"1","freeExpiry":{"days":1,"timeZone":"Mars/Base"}}"#, "no time zone"),
        (#"{"version":"1","freeExpiry":{"days":1,"timeZone":"../../etc/passwd"}}"#, "no time zone"),
        (#"{"version":"1","freeExpiry":{"days":1,"timeZone":"tzdata.zi"}}"#, "no time zone"),
        (#"{"version":"1","freeExpiry":{"days":1,"timeZone":"zone1970_tab"}}"#, "no time zone"),
        (#"{"version":"1","holdSeconds":0}"#, "holdSeconds isn't"),
        (#"{"version":"1","holdSecondsMax":2592001}"#, "holdSecondsMax isn't"),
        (#"{"version":"1","holdSeconds":61,"holdSecondsMax":60}"#, "more than holdSecondsMax"),
    ]

    @Test(arguments: faults)
    func `is refused with the place of its fault`(text: String, reason: String) throws {
        let error = #expect(throws: PolicyFile.Invalid.self) {
            try PolicyFile.parse(Array(text.utf8))
        }
        #expect(try #require(error).reason.contains(reason))
    }
}

@Suite struct `A time zone` {
    static let days: [(zone: String, time: Timestamp, days: Int64, end: Timestamp)] = [
        ("UTC", "2026-11-30T12:00:00Z", 0, "2026-12-01T00:00:00Z"),
        // 21:00 in Tokyo, and an hour after midnight there.
        ("Asia/Tokyo", "2026-11-30T12:00:00Z", 0, "2026-11-30T15:00:00Z"),
        ("Asia/Tokyo", "2026-11-30T16:00:00Z", 0, "2026-12-01T15:00:00Z"),
        ("Asia/Tokyo", "2026-11-30T14:59:59.999Z", 180, "2027-05-29T15:00:00Z"),
        ("Asia/Tokyo", "2026-11-30T15:00:00Z", 180, "2027-05-30T15:00:00Z"),
        // Summer time begins on 8 March 2026 and ends on 1 November.
        ("America/New_York", "2026-03-07T12:00:00Z", 0, "2026-03-08T05:00:00Z"),
        ("America/New_York", "2026-03-07T12:00:00Z", 1, "2026-03-09T04:00:00Z"),
        ("America/New_York", "2026-10-31T12:00:00Z", 1, "2026-11-02T05:00:00Z"),
        ("Europe/Berlin", "1969-12-31T22:00:00Z", 0, "1969-12-31T23:00:00Z"),
    ]

    @Test(arguments: days)
    func `says when a day ends`(zone: String, time: Timestamp, days: Int64, end: Timestamp) throws {
        #expect(try ZoneRules(name: zone).endOfDay(days, after: time) == end)
    }

    @Test func `says so up to the last day there is and no further`() throws {
        let zone = try ZoneRules(name: "UTC")
        #expect(zone.endOfDay(0, after: "9999-12-30T12:00:00Z") == "9999-12-31T00:00:00Z")
        #expect(zone.endOfDay(1, after: "9999-12-30T12:00:00Z") == nil)
    }
}
