import CoinLedger
import LedgerTestSupport
import Testing

/// An event, and how it is stored.
struct GoldenPayload: CustomTestStringConvertible {
    let event: Event
    let type: String
    let payload: String

    var testDescription: String { "\(type) \(payload.prefix(60))" }

    static let all =
        [fullPurchase, leastPurchase, redelivered, twoLots, pricedLot, gift, gamePrize, link]
        + spends + refunds + store

    static let token: AppAccountToken = "6f9619ff-8b86-d011-b42d-00cf4fc964ff"

    static let fullPurchase = GoldenPayload(
        event: .purchaseRecorded(
            PurchaseRecorded(
                purchase: Purchase(
                    key: .appStore("2000000123456789", .sandbox),
                    originalTransactionID: "2000000123456788", productID: "coins \"500\"/ü\n",
                    quantity: 3, price: StatedPrice(milliunits: 4990, currency: "EUR"),
                    storefront: "DEU", purchasedAt: "2026-11-30T11:58:00.123Z",
                    signedAt: "2026-11-30T11:58:01Z", appAccountToken: token),
                catalogueVersion: "2026-11")),
        type: "PurchaseRecorded",
        payload: #"{"store":"app_store","environment":"Sandbox","#
            + #""transactionId":"2000000123456789","#
            + #""originalTransactionId":"2000000123456788","productId":"coins \"500\"/ü\n","#
            + #""quantity":3,"priceMilliunits":4990,"currency":"EUR","storefront":"DEU","#
            + #""purchasedAt":"2026-11-30T11:58:00.123Z","#
            + #""signedAt":"2026-11-30T11:58:01.000Z","#
            + #""appAccountToken":"6f9619ff-8b86-d011-b42d-00cf4fc964ff","#
            + #""catalogueVersion":"2026-11"}"#)

    static let leastPurchase = GoldenPayload(
        event: .purchaseRecorded(
            PurchaseRecorded(
                purchase: Purchase(
                    key: .appStore("T1"), originalTransactionID: "T1", productID: "coins100",
                    quantity: 1, price: nil, storefront: nil, purchasedAt: "1970-01-01T00:00:00Z",
                    signedAt: nil, appAccountToken: nil),
                catalogueVersion: "1")),
        type: "PurchaseRecorded",
        payload: #"{"store":"app_store","environment":"Production","transactionId":"T1","#
            + #""originalTransactionId":"T1","productId":"coins100","quantity":1,"#
            + #""purchasedAt":"1970-01-01T00:00:00.000Z","catalogueVersion":"1"}"#)

    static let redelivered = GoldenPayload(
        event: .purchaseRecorded(
            PurchaseRecorded(
                purchase: Purchase(
                    key: .appStore("T1"), originalTransactionID: "T1", productID: "coins100",
                    quantity: 1, price: nil, storefront: nil, purchasedAt: "1970-01-01T00:00:00Z",
                    signedAt: nil, appAccountToken: nil),
                catalogueVersion: "1",
                redelivery: Redelivery(reason: "finished too early", ticketID: "S-7"))),
        type: "PurchaseRecorded",
        payload: #"{"store":"app_store","environment":"Production","transactionId":"T1","#
            + #""originalTransactionId":"T1","productId":"coins100","quantity":1,"#
            + #""purchasedAt":"1970-01-01T00:00:00.000Z","catalogueVersion":"1","#
            + #""redelivery":{"reason":"finished too early","ticketId":"S-7"}}"#)

    static let twoLots = GoldenPayload(
        event: .coinsGranted(
            CoinsGranted(
                environment: .production, source: .purchase(.appStore("T1")),
                lots: [
                    Lot(number: 1, kind: .paid, coins: 9_007_199_254_740_000),
                    Lot(number: 2, kind: .free, coins: 50, expiresAt: "2027-05-30T12:00:00Z"),
                ])),
        type: "CoinsGranted",
        payload: #"{"environment":"Production","source":{"type":"purchase","store":"app_store","#
            + #""environment":"Production","transactionId":"T1"},"lots":["#
            + #"{"number":1,"kind":"paid","coins":9007199254740000},"#
            + #"{"number":2,"kind":"free","coins":50,"#
            + #""expiresAt":"2027-05-30T12:00:00.000Z"}]}"#)

    static let pricedLot = GoldenPayload(
        event: .coinsGranted(
            CoinsGranted(
                environment: .sandbox, source: .purchase(.appStore("T2", .sandbox)),
                lots: [
                    Lot(
                        number: 7, kind: .paid, coins: 120,
                        price: StatedPrice(milliunits: 160_000, currency: "JPY"))
                ])),
        type: "CoinsGranted",
        payload: #"{"environment":"Sandbox","source":{"type":"purchase","store":"app_store","#
            + #""environment":"Sandbox","transactionId":"T2"},"lots":["#
            + #"{"number":7,"kind":"paid","coins":120,"priceMilliunits":160000,"currency":"JPY"}]}"#
    )

    static let gift = GoldenPayload(
        event: .coinsGranted(
            CoinsGranted(
                environment: .production,
                source: .gift(reason: "Weihnachten „26“", campaignID: "xmas-26"),
                lots: [Lot(number: 3, kind: .free, coins: 10, expiresAt: "2027-05-30T14:59:59Z")])),
        type: "CoinsGranted",
        payload: #"{"environment":"Production","source":{"type":"gift","#
            + #""reason":"Weihnachten „26“","campaignId":"xmas-26"},"lots":["#
            + #"{"number":3,"kind":"free","coins":10,"expiresAt":"2027-05-30T14:59:59.000Z"}]}"#)

    static let gamePrize = GoldenPayload(
        event: .coinsGranted(
            CoinsGranted(
                environment: .production, source: .gift(reason: "prize", campaignID: nil),
                lots: [Lot(number: 4, kind: .free, coins: 1)])),
        type: "CoinsGranted",
        payload: #"{"environment":"Production","source":{"type":"gift","reason":"prize"},"#
            + #""lots":[{"number":4,"kind":"free","coins":1}]}"#)

    static let link = GoldenPayload(
        event: .appAccountTokenLinked(token), type: "AppAccountTokenLinked",
        payload: #"{"appAccountToken":"6f9619ff-8b86-d011-b42d-00cf4fc964ff"}"#)
}
