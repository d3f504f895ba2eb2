import CoinLedger
import EventStore
import LedgerTestSupport
import Testing

/// The payloads that every event ever written has. A test here that fails after a change says that
/// the change makes old events unreadable.
@Suite struct `A stored payload` {
    static let token: AppAccountToken = "6f9619ff-8b86-d011-b42d-00cf4fc964ff"

    static let full: Event = .purchaseRecorded(
        PurchaseRecorded(
            purchase: Purchase(
                key: .appStore("2000000123456789", .sandbox),
                originalTransactionID: "2000000123456788", productID: "coins \"500\"/ü\n",
                quantity: 3, price: StatedPrice(milliunits: 4990, currency: "EUR"),
                storefront: "DEU", purchasedAt: "2026-11-30T11:58:00.123Z",
                signedAt: "2026-11-30T11:58:01Z", appAccountToken: token),
            catalogueVersion: "2026-11"))

    static let least: Event = .purchaseRecorded(
        PurchaseRecorded(
            purchase: Purchase(
                key: .appStore("T1"), originalTransactionID: "T1", productID: "coins100",
                quantity: 1, price: nil, storefront: nil, purchasedAt: "1970-01-01T00:00:00Z",
                signedAt: nil, appAccountToken: nil),
            catalogueVersion: "1"))

    static let twoLots: Event = .coinsGranted(
        CoinsGranted(
            environment: .production, source: .purchase(.appStore("T1")),
            lots: [
                Lot(number: 1, kind: .paid, coins: 9_007_199_254_740_991),
                Lot(number: 2, kind: .free, coins: 50, expiresAt: "2027-05-30T12:00:00Z"),
            ]))

    static let golden: [(event: Event, type: String, payload: String)] = [
        (
            full, "PurchaseRecorded",
            #"{"store":"app_store","environment":"Sandbox","transactionId":"2000000123456789","#
                + #""originalTransactionId":"2000000123456788","productId":"coins \"500\"/ü\n","#
                + #""quantity":3,"priceMilliunits":4990,"currency":"EUR","storefront":"DEU","#
                + #""purchasedAt":"2026-11-30T11:58:00.123Z","#
                + #""signedAt":"2026-11-30T11:58:01.000Z","#
                + #""appAccountToken":"6f9619ff-8b86-d011-b42d-00cf4fc964ff","#
                + #""catalogueVersion":"2026-11"}"#
        ),
        (
            least, "PurchaseRecorded",
            #"{"store":"app_store","environment":"Production","transactionId":"T1","#
                + #""originalTransactionId":"T1","productId":"coins100","quantity":1,"#
                + #""purchasedAt":"1970-01-01T00:00:00.000Z","catalogueVersion":"1"}"#
        ),
        (
            twoLots, "CoinsGranted",
            #"{"environment":"Production","source":{"type":"purchase","store":"app_store","#
                + #""environment":"Production","transactionId":"T1"},"lots":["#
                + #"{"number":1,"kind":"paid","coins":9007199254740991},"#
                + #"{"number":2,"kind":"free","coins":50,"#
                + #""expiresAt":"2027-05-30T12:00:00.000Z"}]}"#
        ),
        (
            .appAccountTokenLinked(token), "AppAccountTokenLinked",
            #"{"appAccountToken":"6f9619ff-8b86-d011-b42d-00cf4fc964ff"}"#
        ),
    ]

    @Test(arguments: golden)
    func `is the same bytes for ever`(event: Event, type: String, payload: String) {
        let encoded = EventCodec.encode(event)
        #expect(encoded.type == type)
        #expect(encoded.schemaVersion == 1)
        #expect(String(decoding: encoded.payload, as: UTF8.self) == payload)
    }

    @Test(arguments: golden)
    func `is read for ever`(event: Event, type: String, payload: String) throws {
        #expect(try EventCodec.decode(stored(type, 1, payload)) == event)
    }

    @Test func `of a grant is read alone, as a claim points at it`() throws {
        let payload = Self.golden[2].payload
        let granted = try EventCodec.coinsGranted(Array(payload.utf8))
        #expect(granted.coins == GrantedCoins(paid: 9_007_199_254_740_991, free: 50))
        #expect(throws: EventCodec.Unreadable.self) { try EventCodec.coinsGranted([]) }
    }
}

/// An event with that payload; what the codec doesn't look at is always the same.
func stored(_ type: String, _ schemaVersion: Int64, _ payload: String) -> StoredEvent {
    StoredEvent(
        id: EventID(lane: 0, position: 1), account: "u1", version: 1, command: .numbered(1),
        occurredAt: .noon, recordedAt: .noon, type: type, schemaVersion: schemaVersion,
        payload: Array(payload.utf8))
}
