import CoinLedger
import LedgerTestSupport

extension GoldenPayload {
    static let store = [consent, withdrawal, order, emptyOrder]

    static let consent = GoldenPayload(
        event: .consentRecorded(ConsentRecorded(isGiven: true)), type: "ConsentRecorded",
        payload: #"{"consented":true}"#)

    static let withdrawal = GoldenPayload(
        event: .consentRecorded(ConsentRecorded(isGiven: false)), type: "ConsentRecorded",
        payload: #"{"consented":false}"#)

    static let order = GoldenPayload(
        event: .orderRecorded(
            OrderRecorded(
                id: "MVM9X1V8W2",
                purchases: [
                    OrderedPurchase(
                        key: .appStore("2000000123456789"), productID: "coins100",
                        purchasedAt: "2026-11-30T11:58:00.123Z"),
                    OrderedPurchase(
                        key: .appStore("T2", .sandbox), productID: "ü", purchasedAt: .noon),
                ])),
        type: "OrderRecorded",
        payload: #"{"orderId":"MVM9X1V8W2","purchases":[{"store":"app_store","#
            + #""environment":"Production","transactionId":"2000000123456789","#
            + #""productId":"coins100","purchasedAt":"2026-11-30T11:58:00.123Z"},"#
            + #"{"store":"app_store","environment":"Sandbox","transactionId":"T2","#
            + #""productId":"ü","purchasedAt":"2026-11-30T12:00:00.000Z"}]}"#)

    static let emptyOrder = GoldenPayload(
        event: .orderRecorded(OrderRecorded(id: "MVM9X1V8W3", purchases: [])),
        type: "OrderRecorded", payload: #"{"orderId":"MVM9X1V8W3","purchases":[]}"#)
}
