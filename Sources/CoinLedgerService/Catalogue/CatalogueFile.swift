import Base
package import CoinLedger

/// Reads a catalogue:
/// ```json
/// {"version": "2026-11", "bundleIds": ["com.example.app"], "products": [
///   {"productId": "coins100", "paid": 100, "bonus": 10,
///    "validFrom": "2026-01-01T00:00:00Z", "validUntil": "2027-01-01T00:00:00Z"}],
///  "stamps": [{"stampId": "heart", "coins": 30}]}
/// ```
/// `bonus`, `stamps` and both instants, which a stamp may have too, may be left out. Which worth
/// applies is decided by the instant of the purchase or of the spend, `validFrom` included and
/// `validUntil` not.
package enum CatalogueFile {
    /// One sentence that says what is wrong and where.
    package struct Invalid: Error, Hashable, Sendable {
        package let reason: String
    }

    package static let productsMax = 10_000
    package static let stampsMax = 10_000
    private static let nameLengths = 1...255

    package static func parse(_ bytes: [UInt8]) throws(Invalid) -> Catalogue {
        let json: JSON
        do { json = try JSON.parse(bytes) } catch {
            throw Invalid(reason: "the catalogue isn't JSON: \(error)")
        }
        let fields = try Fields(
            json, "the catalogue", allowed: ["version", "bundleIds", "products", "stamps"])
        var products: [Catalogue.Product] = []
        for (index, entry) in try fields.array("products").enumerated() {
            products.append(try product(entry, "products[\(index)]"))
        }
        guard !products.isEmpty, products.count <= productsMax else {
            throw Invalid(reason: "the catalogue must have 1 to \(productsMax) products")
        }
        var stamps: [Catalogue.Stamp] = []
        for (index, entry) in try fields.optionalArray("stamps").enumerated() {
            stamps.append(try stamp(entry, "stamps[\(index)]"))
        }
        guard stamps.count <= stampsMax else {
            throw Invalid(reason: "the catalogue must have at most \(stampsMax) stamps")
        }
        var bundleIDs: [String] = []
        for entry in try fields.array("bundleIds") {
            guard let text = entry.string, nameLengths.contains(text.utf8.count) else {
                throw Invalid(reason: "bundleIds must be texts")
            }
            bundleIDs.append(text)
        }
        guard !bundleIDs.isEmpty else { throw Invalid(reason: "bundleIds is empty") }
        let version = try fields.name("version")
        do throws(Catalogue.Invalid) {
            return try Catalogue(
                version: version, bundleIDs: bundleIDs, products: products, stamps: stamps)
        } catch {
            throw Invalid(reason: error.reason)
        }
    }

    private static func product(
        _ entry: JSON, _ place: String
    ) throws(Invalid) -> Catalogue.Product {
        let fields = try Fields(
            entry, place, allowed: ["productId", "paid", "bonus", "validFrom", "validUntil"])
        return Catalogue.Product(
            id: try fields.name("productId"),
            coins: GrantedCoins(
                paid: try fields.coins("paid"), free: try fields.coins("bonus")),
            validity: try fields.validity())
    }

    private static func stamp(_ entry: JSON, _ place: String) throws(Invalid) -> Catalogue.Stamp {
        let fields = try Fields(
            entry, place, allowed: ["stampId", "coins", "validFrom", "validUntil"])
        return Catalogue.Stamp(
            id: try fields.name("stampId"), coins: try fields.coins("coins"),
            validity: try fields.validity())
    }

    /// The fields of one object of the file.
    private struct Fields {
        private let object: JSONObject
        private let place: String

        init(_ json: JSON, _ place: String, allowed: [String]) throws(Invalid) {
            guard let object = json.object else {
                throw Invalid(reason: "\(place) isn't an object")
            }
            for member in object.members where !allowed.contains(member.name) {
                throw Invalid(reason: "\(place) has an unknown field \(member.name)")
            }
            self.object = object
            self.place = place
        }

        func array(_ name: String) throws(Invalid) -> [JSON] {
            guard let value = object[name]?.array else {
                throw Invalid(reason: "\(place) needs an array \(name)")
            }
            return value
        }

        func optionalArray(_ name: String) throws(Invalid) -> [JSON] {
            object[name] == nil ? [] : try array(name)
        }

        func validity() throws(Invalid) -> Catalogue.Validity {
            Catalogue.Validity(
                from: try timestamp("validFrom"), until: try timestamp("validUntil"))
        }

        func name(_ name: String) throws(Invalid) -> String {
            guard let text = object[name]?.string, nameLengths.contains(text.utf8.count) else {
                throw Invalid(reason: "\(place) needs a text \(name) of 1 to 255 bytes")
            }
            return text
        }

        func coins(_ name: String) throws(Invalid) -> Coins {
            guard let value = object[name] else { return .zero }
            guard let amount = value.integer, let coins = Coins(amount) else {
                throw Invalid(reason: "\(place).\(name) isn't a whole number of coins")
            }
            return coins
        }

        func timestamp(_ name: String) throws(Invalid) -> Timestamp? {
            guard let value = object[name] else { return nil }
            guard let text = value.string, let timestamp = Timestamp(text) else {
                throw Invalid(reason: "\(place).\(name) isn't an RFC 3339 instant with an offset")
            }
            return timestamp
        }
    }
}

extension Catalogue.Invalid {
    fileprivate var reason: String {
        switch self {
        case .worthNothing(let id): "\(id) is worth nothing"
        case .neverValid(let id): "\(id) ends before it begins"
        case .overlapping(let id): "\(id) has two worths at one instant"
        }
    }
}
