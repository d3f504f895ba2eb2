import CoinLedger
import CoinLedgerService
import LedgerTestSupport
import Testing

@Suite struct `A catalogue file` {
    @Test func `says what products are worth, and when`() throws {
        let catalogue = try CatalogueFile.parse(
            Array(
                #"""
                {"version": "2026-11", "bundleIds": ["com.example.app", "com.example.b"],
                 "products": [
                   {"productId": "coins100", "paid": 100, "bonus": 10,
                    "validFrom": "2026-01-01T00:00:00Z", "validUntil": "2027-01-01T09:00:00+09:00"},
                   {"productId": "coins100", "paid": 90, "validUntil": "2026-01-01T00:00:00Z"},
                   {"productId": "gift", "bonus": 5}],
                 "stamps": [
                   {"stampId": "heart", "coins": 30, "validUntil": "2027-01-01T00:00:00Z"}]}
                """#.utf8))
        #expect(catalogue.version == "2026-11")
        #expect(catalogue.bundleIDs == ["com.example.app", "com.example.b"])
        let worth = try catalogue.worth(of: "coins100", quantity: 1, at: .noon)
        #expect(worth == GrantedCoins(paid: 100, free: 10))
        let before = try catalogue.worth(
            of: "coins100", quantity: 1, at: "2025-12-31T23:59:59.999Z")
        #expect(before == GrantedCoins(paid: 90, free: 0))
        #expect(throws: Catalogue.WorthError.unknownProduct) {
            try catalogue.worth(of: "coins100", quantity: 1, at: "2027-01-01T00:00:00Z")
        }
        let gift = try catalogue.worth(of: "gift", quantity: 2, at: .noon)
        #expect(gift == GrantedCoins(paid: 0, free: 10))
        #expect(catalogue.price(of: "heart", at: .noon) == 30)
        #expect(catalogue.price(of: "heart", at: "2027-01-01T00:00:00Z") == nil)
    }

    private static let sound =
        #"{"version":"1","bundleIds":["b"],"products":[{"productId":"p","paid":1,"bonus":2,"#
        + #""validFrom":"2026-01-01T00:00:00Z","validUntil":"2027-01-01T00:00:00Z"}]}"#

    /// A sound file with one piece of its text exchanged, and what is said of it.
    static let faults: [(old: String, new: String, reason: String)] = [
        ("{", "[", "isn't JSON"),
        ("{\"version\"", "{\"v\":1,\"version\"", "unknown field v"),
        ("\"version\":\"1\",", "", "a text version"),
        ("\"1\"", "1", "a text version"),
        ("\"1\"", "\"\"", "a text version"),
        ("\"1\"", "\"" + String(repeating: "x", count: 256) + "\"", "a text version"),
        ("[\"b\"]", "\"b\"", "an array bundleIds"),
        ("[\"b\"]", "[]", "bundleIds is empty"),
        ("[\"b\"]", "[\"\"]", "bundleIds must be texts"),
        ("[\"b\"]", "[1]", "bundleIds must be texts"),
        ("[{", "[1,{", "products[0] isn't an object"),
        ("products", "product", "unknown field product"),
        ("\"productId\":\"p\",", "", "products[0] needs a text productId"),
        ("\"p\"", "\"\"", "products[0] needs a text productId"),
        ("\"paid\"", "\"price\"", "products[0] has an unknown field price"),
        (":1,", ":-1,", "products[0].paid"),
        (":1,", ":1.5,", "products[0].paid"),
        (":1,", ":\"1\",", "products[0].paid"),
        (":1,", ":9007199254740992,", "products[0].paid"),
        (":1,", ":null,", "products[0].paid"),
        (":2,", ":true,", "products[0].bonus"),
        ("2026-01-01T00:00:00Z", "2026-01-01", "products[0].validFrom"),
        ("\"2027-01-01T00:00:00Z\"", "1", "products[0].validUntil"),
        ("\"paid\":1,\"bonus\":2,", "", "p is worth nothing"),
        ("2026-01-01", "2027-01-01", "p ends before it begins"),
        ("[{", "[{\"productId\":\"p\",\"paid\":1},{", "p has two worths"),
        ("}]}", "}],\"stamps\":{}}", "an array stamps"),
        ("}]}", "}],\"stamps\":[{\"coins\":1}]}", "stamps[0] needs a text stampId"),
        ("}]}", "}],\"stamps\":[{\"stampId\":\"s\"}]}", "s is worth nothing"),
        ("}]}", "}],\"stamps\":[{\"stampId\":\"s\",\"price\":1}]}", "unknown field price"),
    ]

    @Test(arguments: faults)
    func `is refused with the place of its fault`(old: String, new: String, reason: String) throws {
        var text = Self.sound
        #expect(self.reason(text) == nil)
        let range = try #require(text.firstRange(of: old))
        text.replaceSubrange(range, with: new)
        let said = try #require(self.reason(text))
        #expect(said.contains(reason))
    }

    @Test(arguments: [(0, false), (1, true), (10_000, true), (10_001, false)])
    func `has 1 to 10000 products`(count: Int, isTaken: Bool) {
        let products = (0..<count).map { #"{"productId":"p\#($0)","paid":1}"# }
        let text =
            #"{"version":"1","bundleIds":["b"],"products":["#
            + products.joined(separator: ",") + "]}"
        #expect((reason(text) == nil) == isTaken)
    }

    private func reason(_ text: String) -> String? {
        do throws(CatalogueFile.Invalid) {
            _ = try CatalogueFile.parse(Array(text.utf8))
            return nil
        } catch {
            return error.reason
        }
    }
}
