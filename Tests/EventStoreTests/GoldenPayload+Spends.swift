import CoinLedger
import LedgerTestSupport

extension GoldenPayload {
    static let spends = [
        stampSpent, otherSpent, spendReversed, expired, added, removed, held, released,
    ]

    static let paidSlice = Slice(
        lot: 1, kind: .paid, coins: 20, value: StatedPrice(milliunits: 26_667, currency: "JPY"))
    static let freeSlice = Slice(lot: 2, kind: .free, coins: 30, value: nil)
    static let paidLot = Lot(
        number: 1, kind: .paid, coins: 120,
        price: StatedPrice(milliunits: 160_000, currency: "JPY"))

    static let stampSpent = GoldenPayload(
        event: .coinsSpent(
            CoinsSpent(
                environment: .production, coins: 50,
                purpose: Purpose(
                    subject: .stamp(
                        id: "heart", quantity: 5, unitCoins: 10, catalogueVersion: "stamps-3"),
                    programmeID: "morning-show", performerID: "yuki"),
                hold: nil, order: .freeFirst, policyVersion: "2026-11",
                slices: [freeSlice, paidSlice])),
        type: "CoinsSpent",
        payload: #"{"environment":"Production","coins":50,"purpose":{"type":"stamp","#
            + #""stampId":"heart","quantity":5,"unitCoins":10,"catalogueVersion":"stamps-3","#
            + #""programmeId":"morning-show","performerId":"yuki"},"order":"free_first","#
            + #""policyVersion":"2026-11","slices":[{"lot":2,"kind":"free","coins":30},"#
            + #"{"lot":1,"kind":"paid","coins":20,"valueMilliunits":26667,"currency":"JPY"}]}"#)

    static let otherSpent = GoldenPayload(
        event: .coinsSpent(
            CoinsSpent(
                environment: .sandbox, coins: 30,
                purpose: Purpose(subject: .other("poll"), programmeID: nil, performerID: nil),
                hold: EventID(lane: 3, position: 17), order: .highestUnitPriceFirst,
                policyVersion: "1", slices: [freeSlice])),
        type: "CoinsSpent",
        payload: #"{"environment":"Sandbox","coins":30,"purpose":{"type":"other","text":"poll"},"#
            + #""hold":"3-17","order":"highest_unit_price_first","policyVersion":"1","#
            + #""slices":[{"lot":2,"kind":"free","coins":30}]}"#)

    static let spendReversed = GoldenPayload(
        event: .spendReversed(
            SpendReversed(
                environment: .production, spend: EventID(lane: 0, position: 9),
                reason: "never shown",
                returned: [
                    ReturnedSlice(
                        lot: paidLot, coins: 20,
                        value: StatedPrice(milliunits: 26_667, currency: "JPY"))
                ], lapsed: [freeSlice])),
        type: "SpendReversed",
        payload: #"{"environment":"Production","spend":"0-9","reason":"never shown","#
            + #""returned":[{"lot":{"number":1,"kind":"paid","coins":120,"#
            + #""priceMilliunits":160000,"currency":"JPY"},"coins":20,"#
            + #""valueMilliunits":26667,"currency":"JPY"}],"#
            + #""lapsed":[{"lot":2,"kind":"free","coins":30}]}"#)

    static let expired = GoldenPayload(
        event: .coinsExpired(CoinsExpired(environment: .production, slices: [freeSlice])),
        type: "CoinsExpired",
        payload: #"{"environment":"Production","slices":[{"lot":2,"kind":"free","coins":30}]}"#)

    static let added = GoldenPayload(
        event: .coinsAdjusted(
            CoinsAdjusted(
                environment: .production,
                change: .added(
                    Lot(number: 5, kind: .free, coins: 12, expiresAt: "2027-05-30T12:00:00Z")),
                reason: "lost in the move", ticketID: "#4711")),
        type: "CoinsAdjusted",
        payload: #"{"environment":"Production","added":{"number":5,"kind":"free","coins":12,"#
            + #""expiresAt":"2027-05-30T12:00:00.000Z"},"reason":"lost in the move","#
            + "\"ticketId\":\"#4711\"}")

    static let removed = GoldenPayload(
        event: .coinsAdjusted(
            CoinsAdjusted(
                environment: .sandbox, change: .removed([freeSlice]), reason: "given twice",
                ticketID: "4712")),
        type: "CoinsAdjusted",
        payload: #"{"environment":"Sandbox","removed":[{"lot":2,"kind":"free","coins":30}],"#
            + #""reason":"given twice","ticketId":"4712"}"#)

    static let held = GoldenPayload(
        event: .coinsHeld(
            CoinsHeld(
                environment: .production, coins: 50,
                purpose: Purpose(
                    subject: .stamp(
                        id: "heart", quantity: 1, unitCoins: 50, catalogueVersion: "stamps-3"),
                    programmeID: "morning-show", performerID: nil),
                heldAt: .noon, expiresAt: "2026-11-30T12:05:00Z", order: .paidFirst,
                policyVersion: "2026-11",
                slices: [HeldSlice(lot: 1, coins: 20), HeldSlice(lot: 2, coins: 30)])),
        type: "CoinsHeld",
        payload: #"{"environment":"Production","coins":50,"purpose":{"type":"stamp","#
            + #""stampId":"heart","quantity":1,"unitCoins":50,"catalogueVersion":"stamps-3","#
            + #""programmeId":"morning-show"},"heldAt":"2026-11-30T12:00:00.000Z","#
            + #""expiresAt":"2026-11-30T12:05:00.000Z","order":"paid_first","#
            + #""policyVersion":"2026-11","slices":[{"lot":1,"coins":20},{"lot":2,"coins":30}]}"#)

    static let released = GoldenPayload(
        event: .holdReleased(
            HoldReleased(environment: .production, hold: EventID(lane: 0, position: 12))),
        type: "HoldReleased", payload: #"{"environment":"Production","hold":"0-12"}"#)
}
