import CoinLedger
import LedgerTestSupport

extension GoldenPayload {
    static let refunds = [refunded, refundReversed, debtPaid, remembered]

    static let taken = ReturnedSlice(
        lot: paidLot, coins: 50, value: StatedPrice(milliunits: 66_667, currency: "JPY"))

    static let refunded = GoldenPayload(
        event: .purchaseRefunded(
            PurchaseRefunded(
                purchase: .appStore("T1"), percentage: 100_000,
                signedAt: "2026-12-01T08:00:00.250Z", shortfallPolicy: .takeOtherPaid,
                taken: [taken], debt: 60, writtenOff: 10)),
        type: "PurchaseRefunded",
        payload: #"{"store":"app_store","environment":"Production","transactionId":"T1","#
            + #""percentageMilliunits":100000,"signedAt":"2026-12-01T08:00:00.250Z","#
            + #""shortfallPolicy":"take_other_paid","taken":[{"lot":{"number":1,"kind":"paid","#
            + #""coins":120,"priceMilliunits":160000,"currency":"JPY"},"coins":50,"#
            + #""valueMilliunits":66667,"currency":"JPY"}],"debt":60,"writtenOff":10}"#)

    static let refundReversed = GoldenPayload(
        event: .refundReversed(
            RefundReversed(
                purchase: .appStore("T1", .sandbox), signedAt: "2026-12-02T08:00:00Z",
                returned: [
                    ReturnedSlice(
                        lot: Lot(number: 2, kind: .free, coins: 30, expiresAt: .noon), coins: 30,
                        value: nil)
                ], debtCleared: 60)),
        type: "RefundReversed",
        payload: #"{"store":"app_store","environment":"Sandbox","transactionId":"T1","#
            + #""signedAt":"2026-12-02T08:00:00.000Z","returned":[{"lot":{"number":2,"#
            + #""kind":"free","coins":30,"expiresAt":"2026-11-30T12:00:00.000Z"},"coins":30}],"#
            + #""debtCleared":60}"#)

    static let debtPaid = GoldenPayload(
        event: .debtPaid(DebtPaid(purchase: .appStore("T1"), taken: [taken])),
        type: "DebtPaid",
        payload: #"{"store":"app_store","environment":"Production","transactionId":"T1","#
            + #""taken":[{"lot":{"number":1,"kind":"paid","coins":120,"#
            + #""priceMilliunits":160000,"currency":"JPY"},"coins":50,"#
            + #""valueMilliunits":66667,"currency":"JPY"}]}"#)

    static let remembered = GoldenPayload(
        event: .refundRemembered(
            RefundWord(
                purchase: .appStore("T9"), percentage: 0, signedAt: "2026-12-01T08:00:00Z")),
        type: "RefundRemembered",
        payload: #"{"store":"app_store","environment":"Production","transactionId":"T9","#
            + #""percentageMilliunits":0,"signedAt":"2026-12-01T08:00:00.000Z"}"#)
}
