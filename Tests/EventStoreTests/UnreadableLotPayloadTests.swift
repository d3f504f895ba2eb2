import CoinLedger
import EventStore
import LedgerTestSupport
import Testing

@Suite struct `An unreadable event of lots` {
    /// A payload with one piece of its text exchanged, and the field that is named then.
    static let malformed: [(golden: GoldenPayload, old: String, new: String, reason: String)] = [
        (.pricedLot, #":160000"#, #":"160000""#, "priceMilliunits"),
        (.pricedLot, #","currency":"JPY""#, "", "currency"),
        (.gift, #""reason":"#, #""cause":"#, "reason"),
        (.gift, #""campaignId":"xmas-26""#, #""campaignId":26"#, "campaignId"),
        (.stampSpent, #""Production""#, #""Xcode""#, "environment"),
        (.stampSpent, #""coins":50"#, #""coins":-50"#, "coins"),
        (.stampSpent, #""purpose":"#, #""use":"#, "purpose"),
        (.stampSpent, #""type":"stamp""#, #""type":"sticker""#, "purpose.type"),
        (.stampSpent, #""type":"stamp","#, "", "type"),
        (.stampSpent, #""stampId":"heart""#, #""stampId":1"#, "stampId"),
        (.stampSpent, #""quantity":5"#, #""quantity":0"#, "quantity"),
        (.stampSpent, #""unitCoins":10"#, #""unitCoins":"10""#, "unitCoins"),
        (.stampSpent, #""catalogueVersion":"stamps-3","#, "", "catalogueVersion"),
        (.stampSpent, #""programmeId":"morning-show""#, #""programmeId":null"#, "programmeId"),
        (.stampSpent, #""performerId":"yuki""#, #""performerId":7"#, "performerId"),
        (.stampSpent, #""free_first""#, #""freeFirst""#, "order"),
        (.stampSpent, #""policyVersion":"2026-11","#, "", "policyVersion"),
        (.stampSpent, #""slices":["#, #""slices":[2,"#, "slices"),
        (.stampSpent, #""slices":"#, #""pieces":"#, "slices"),
        (.stampSpent, #""lot":2"#, #""lot":0"#, "lot"),
        (.stampSpent, #""kind":"free""#, #""kind":"gold""#, "kind"),
        (.stampSpent, #""coins":30"#, #""coins":0.5"#, "coins"),
        (.stampSpent, #":26667"#, #":"26667""#, "valueMilliunits"),
        (.stampSpent, #","currency":"JPY""#, "", "currency"),
        (.otherSpent, #""text":"poll""#, #""text":1"#, "text"),
        (.otherSpent, #""hold":"3-17""#, #""hold":"3-0""#, "hold"),
        (.otherSpent, #""hold":"3-17""#, #""hold":"3""#, "hold"),
        (.spendReversed, #""spend":"0-9""#, #""spend":"0-09""#, "spend"),
        (.spendReversed, #""reason":"never shown","#, "", "reason"),
        (.spendReversed, #""returned":["#, #""returned":[{},"#, "lot"),
        (.spendReversed, #""number":1"#, #""number":"1""#, "number"),
        (.spendReversed, #""coins":20"#, #""coins":true"#, "coins"),
        (.spendReversed, #""lapsed":"#, #""lost":"#, "lapsed"),
        (.expired, #""slices":"#, #""Slices":"#, "slices"),
        (.added, #""added":{"#, #""added":[],"x":{"#, "added"),
        (.added, #""added":{"#, #""extra":{"#, "removed"),
        (.added, #""ticketId":"#, #""ticket":"#, "ticketId"),
        (.removed, #""removed":["#, #""removed":{},"x":["#, "removed"),
        (.removed, #""reason":"given twice","#, "", "reason"),
        (.held, #""heldAt":"2026"#, #""heldAt":"26"#, "heldAt"),
        (.held, #""expiresAt":"2026-11-30T12:05:00.000Z","#, "", "expiresAt"),
        (.held, #""paid_first""#, #""""#, "order"),
        (.held, #"{"lot":1,"#, #"{"lot":-1,"#, "lot"),
        (.held, #""slices":[{"#, #""slices":[[],{"#, "slices"),
        (.released, #""hold":"0-12""#, #""hold":12"#, "hold"),
        (.refunded, #""transactionId":"T1""#, #""transactionId":1"#, "transactionId"),
        (.refunded, ":100000", ":100001", "percentageMilliunits"),
        (.refunded, ":100000", ":-1", "percentageMilliunits"),
        (.refunded, #""signedAt":"2026-12"#, #""signedAt":"2026-13"#, "signedAt"),
        (.refunded, #""take_other_paid""#, #""forgive""#, "shortfallPolicy"),
        (.refunded, #""taken":"#, #""took":"#, "taken"),
        (.refunded, #""coins":120"#, #""coins":"120""#, "coins"),
        (.refunded, #""debt":60"#, #""debt":-60"#, "debt"),
        (.refunded, #","writtenOff":10"#, "", "writtenOff"),
        (.refundReversed, #""returned":["#, #""returned":["x","#, "returned"),
        (.refundReversed, #""debtCleared":60"#, #""debtCleared":null"#, "debtCleared"),
        (.debtPaid, #""store":"app_store""#, #""store":"""#, "store"),
        (.debtPaid, #""lot":{"#, #""lots":{"#, "lot"),
        (.remembered, #""percentageMilliunits":0,"#, "", "percentageMilliunits"),
        (.remembered, #""signedAt":"#, #""signed":"#, "signedAt"),
    ]

    @Test(arguments: malformed)
    func `names its field`(
        golden: GoldenPayload, old: String, new: String, reason: String
    ) throws {
        let changed = try #require(replacing(old, by: new, in: golden.payload))
        let refusal = refusal(of: stored(golden.type, 1, changed))
        #expect(refusal?.reason == reason)
        #expect(refusal?.type == golden.type)
    }

    @Test(arguments: GoldenPayload.spends + GoldenPayload.refunds)
    func `never traps, wherever it's cut off or damaged`(golden: GoldenPayload) {
        let bytes = Array(golden.payload.utf8)
        for index in bytes.indices {
            let cut = String(decoding: bytes[..<index], as: UTF8.self)
            #expect(refusal(of: stored(golden.type, 1, cut)) != nil)
            // Some damage makes another valid value; none may trap.
            let damaged = String(decoding: damaged(bytes, at: index), as: UTF8.self)
            _ = refusal(of: stored(golden.type, 1, damaged))
        }
    }
}
