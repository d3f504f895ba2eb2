import CoinLedger
import EventStore
import LedgerTestSupport
import Testing

@Suite struct `An unreadable event` {
    static let purchase =
        #"{"store":"app_store","environment":"Production","transactionId":"T1","#
        + #""originalTransactionId":"T1","productId":"coins100","quantity":1,"#
        + #""priceMilliunits":990,"currency":"USD","storefront":"USA","#
        + #""purchasedAt":"1970-01-01T00:00:00.000Z","signedAt":"1970-01-01T00:00:00.000Z","#
        + #""appAccountToken":"6f9619ff-8b86-d011-b42d-00cf4fc964ff","catalogueVersion":"1"}"#
    static let grant =
        #"{"environment":"Production","source":{"type":"purchase","store":"app_store","#
        + #""environment":"Sandbox","transactionId":"T1"},"lots":[{"number":1,"kind":"paid","#
        + #""coins":100,"expiresAt":"2027-05-30T12:00:00.000Z"}]}"#
    static let link = #"{"appAccountToken":"6f9619ff-8b86-d011-b42d-00cf4fc964ff"}"#

    static let order =
        #"{"orderId":"M1","purchases":[{"store":"app_store","environment":"Production","#
        + #""transactionId":"T1","productId":"coins100","#
        + #""purchasedAt":"1970-01-01T00:00:00.000Z"}]}"#
    static let consent = #"{"consented":true}"#

    /// A payload with one piece of its text exchanged, and the field that is named then.
    static let malformed: [(payload: String, old: String, new: String, reason: String)] = [
        (purchase, #""app_store""#, #""play_store""#, "store"),
        (purchase, #""store":"app_store","#, "", "store"),
        (purchase, #""app_store""#, "1", "store"),
        (purchase, #""Production""#, #""production""#, "environment"),
        (purchase, #""environment":"Production","#, "", "environment"),
        (purchase, #""transactionId":"T1""#, #""transactionId":"""#, "transactionId"),
        (purchase, #""transactionId":"T1""#, #""transactionId":1"#, "transactionId"),
        (purchase, #""transactionId":"T1","#, "", "transactionId"),
        (
            purchase, #""originalTransactionId":"T1""#, #""originalTransactionId":"T 1""#,
            "originalTransactionId"
        ),
        (purchase, #""originalTransactionId":"T1","#, "", "originalTransactionId"),
        (purchase, #""productId":"coins100""#, #""productId":100"#, "productId"),
        (purchase, #""productId":"coins100","#, "", "productId"),
        (purchase, #""quantity":1"#, #""quantity":"1""#, "quantity"),
        (purchase, #""quantity":1"#, #""quantity":1.5"#, "quantity"),
        (purchase, #""quantity":1"#, #""quantity":0"#, "quantity"),
        (purchase, #""quantity":1"#, #""quantity":9223372036854775808"#, "quantity"),
        (purchase, #""quantity":1,"#, "", "quantity"),
        (purchase, #":990"#, #":"990""#, "priceMilliunits"),
        (purchase, #":990"#, ":null", "priceMilliunits"),
        (purchase, #""currency":"USD","#, "", "currency"),
        (purchase, #""currency":"USD""#, #""currency":840"#, "currency"),
        (purchase, #""storefront":"USA""#, #""storefront":143441"#, "storefront"),
        (purchase, #""storefront":"USA""#, #""storefront":null"#, "storefront"),
        (purchase, #""purchasedAt":"1970"#, #""purchasedAt":"0000"#, "purchasedAt"),
        (purchase, #""purchasedAt":"1970-01-01T00:00:00.000Z","#, "", "purchasedAt"),
        (purchase, #""signedAt":"1970-01-01T00:00:00.000Z""#, #""signedAt":0"#, "signedAt"),
        (purchase, #""signedAt":"1970-01"#, #""signedAt":"1970-13"#, "signedAt"),
        (purchase, "6f9619ff-", "6f9619ff", "appAccountToken"),
        (purchase, #""catalogueVersion":"1""#, #""catalogueVersion":1"#, "catalogueVersion"),
        (purchase, #","catalogueVersion":"1""#, "", "catalogueVersion"),
        (grant, #"{"environment":"Production","#, "{", "environment"),
        (grant, #""source":{"#, #""origin":{"#, "source"),
        (grant, #""type":"purchase""#, #""type":"loan""#, "source.type"),
        (grant, #""type":"purchase""#, #""type":"gift""#, "reason"),
        (grant, #""type":"purchase","#, "", "type"),
        (grant, #""environment":"Sandbox""#, #""environment":"Xcode""#, "environment"),
        (grant, #""transactionId":"T1""#, #""transactionId":"a/b""#, "transactionId"),
        (grant, #""lots":["#, #""plots":["#, "lots"),
        (grant, #""lots":["#, #""lots":[1,"#, "lots"),
        (grant, #""number":1"#, #""number":"1""#, "number"),
        (grant, #""number":1"#, #""number":0"#, "number"),
        (grant, #""number":1"#, #""number":9223372036854775807"#, "number"),
        (grant, #""number":1,"#, "", "number"),
        (grant, #""kind":"paid""#, #""kind":"bonus""#, "kind"),
        (grant, #""coins":100"#, #""coins":-1"#, "coins"),
        (grant, #""coins":100"#, #""coins":9007199254740992"#, "coins"),
        (grant, #""coins":100"#, #""coins":1e2"#, "coins"),
        (grant, #""coins":100,"#, "", "coins"),
        (grant, #""expiresAt":"2027"#, #""expiresAt":"27"#, "expiresAt"),
        (link, "6f9619ff-", "6f9619ff", "appAccountToken"),
        (link, "appAccountToken", "token", "appAccountToken"),
        (purchase, #""1"}"#, #""1","redelivery":1}"#, "redelivery"),
        (purchase, #""1"}"#, #""1","redelivery":{"ticketId":"S-1"}}"#, "reason"),
        (purchase, #""1"}"#, #""1","redelivery":{"reason":"lost"}}"#, "ticketId"),
        (order, #""orderId":"M1""#, #""orderId":"""#, "orderId"),
        (order, #""orderId":"M1""#, #""orderId":1"#, "orderId"),
        (order, #""purchases":[{"#, #""purchases":[1,{"#, "purchases"),
        (order, #""transactionId":"T1","#, "", "transactionId"),
        (order, #""productId":"coins100","#, "", "productId"),
        (order, #""1970-01"#, #""1970-13"#, "purchasedAt"),
        (consent, "true", #""true""#, "consented"),
        (consent, "consented", "given", "consented"),
    ]

    @Test(arguments: malformed)
    func `names its field`(payload: String, old: String, new: String, reason: String) throws {
        let type = Self.type(of: payload)
        // The text before the exchange is fine, so that it's the exchange that is refused.
        #expect(refusal(of: stored(type, 1, payload)) == nil)
        let changed = try #require(replacing(old, by: new, in: payload))
        let refusal = refusal(of: stored(type, 1, changed))
        #expect(refusal?.reason == reason)
        #expect(refusal?.type == type)
    }

    @Test func `has no lots`() throws {
        let payload =
            #"{"environment":"Production","source":{"type":"purchase","store":"app_store","#
            + #""environment":"Production","transactionId":"T1"},"lots":[]}"#
        #expect(refusal(of: stored("CoinsGranted", 1, payload))?.reason == "lots")
    }

    @Test(arguments: ["", "null", "[]", "{", #"{"a":1,"a":1}"#, "\"x\""])
    func `isn't an object`(payload: String) {
        #expect(throws: EventCodec.Unreadable.self) {
            try EventCodec.decode(stored("AppAccountTokenLinked", 1, payload))
        }
    }

    @Test(arguments: [
        ("AppAccountTokenLinked", 0), ("AppAccountTokenLinked", 2), ("CoinsGiven", 1),
        ("appAccountTokenLinked", 1), ("", 1),
    ])
    func `has a type or version that doesn't exist`(type: String, version: Int64) {
        let refusal = refusal(of: stored(type, version, Self.link))
        #expect(refusal?.reason == "no such type and schema version")
        #expect(refusal?.type == type)
        #expect(refusal?.schemaVersion == version)
    }

    @Test(arguments: [purchase, grant, link, order, consent])
    func `never traps, wherever it's cut off or damaged`(payload: String) {
        let bytes = Array(payload.utf8)
        let type = Self.type(of: payload)
        for index in bytes.indices {
            let cut = String(decoding: bytes[..<index], as: UTF8.self)
            #expect(refusal(of: stored(type, 1, cut)) != nil)
            // Some damage makes another valid value; none may trap.
            let damaged = String(decoding: damaged(bytes, at: index), as: UTF8.self)
            _ = refusal(of: stored(type, 1, damaged))
        }
    }

    private static func type(of payload: String) -> String {
        switch payload {
        case purchase: "PurchaseRecorded"
        case grant: "CoinsGranted"
        case order: "OrderRecorded"
        case consent: "ConsentRecorded"
        default: "AppAccountTokenLinked"
        }
    }
}

/// Why an event isn't read, nil if it is.
func refusal(of event: StoredEvent) -> EventCodec.Unreadable? {
    do throws(EventCodec.Unreadable) {
        _ = try EventCodec.decode(event)
        return nil
    } catch {
        return error
    }
}

func damaged(_ bytes: [UInt8], at index: Int) -> [UInt8] {
    var bytes = bytes
    bytes[index] ^= 1
    return bytes
}

/// The text with the first occurrence exchanged, or nil if there is none.
func replacing(_ old: String, by new: String, in text: String) -> String? {
    guard let range = text.firstRange(of: old) else { return nil }
    var text = text
    text.replaceSubrange(range, with: new)
    return text
}
