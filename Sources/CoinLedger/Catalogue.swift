/// What products are worth in coins and what stamps cost, and when. Versioned: each grant and each
/// spend names the version it used.
package struct Catalogue: Hashable, Sendable {
    package let version: String
    /// The apps whose products these are.
    package let bundleIDs: [String]
    private let products: [String: [Product]]
    private let stamps: [String: [Stamp]]

    /// From one instant on and until another, each if there is one.
    package struct Validity: Hashable, Sendable {
        package let from: Timestamp?
        package let until: Timestamp?

        package static let always = Validity(from: nil, until: nil)

        package init(from: Timestamp?, until: Timestamp?) {
            self.from = from
            self.until = until
        }

        fileprivate func contains(_ time: Timestamp) -> Bool {
            if let from, time < from { return false }
            if let until, time >= until { return false }
            return true
        }

        fileprivate var isEmpty: Bool {
            if let from, let until { from >= until } else { false }
        }

        fileprivate func overlaps(_ other: Validity) -> Bool {
            func begins(_ first: Validity, before second: Validity) -> Bool {
                guard let from = first.from, let until = second.until else { return true }
                return from < until
            }
            return begins(self, before: other) && begins(other, before: self)
        }
    }

    /// The worth of one unit of a product while it's valid.
    package struct Product: Hashable, Sendable {
        package let id: String
        package let coins: GrantedCoins
        package let validity: Validity

        package init(id: String, coins: GrantedCoins, validity: Validity = .always) {
            self.id = id
            self.coins = coins
            self.validity = validity
        }
    }

    /// The price of one stamp while it's valid.
    package struct Stamp: Hashable, Sendable {
        package let id: String
        package let coins: Coins
        package let validity: Validity

        package init(id: String, coins: Coins, validity: Validity = .always) {
            self.id = id
            self.coins = coins
            self.validity = validity
        }
    }

    package enum Invalid: Error, Hashable, Sendable {
        /// A product or stamp is worth nothing.
        case worthNothing(id: String)
        /// A product or stamp ends before it begins.
        case neverValid(id: String)
        /// A product or stamp has two worths at one instant.
        case overlapping(id: String)
    }

    package init(
        version: String, bundleIDs: [String], products: [Product], stamps: [Stamp] = []
    ) throws(Invalid) {
        self.version = version
        self.bundleIDs = bundleIDs
        self.products = Dictionary(grouping: products, by: \.id)
        self.stamps = Dictionary(grouping: stamps, by: \.id)
        for product in products {
            guard product.coins.paid > .zero || product.coins.free > .zero else {
                throw .worthNothing(id: product.id)
            }
        }
        for stamp in stamps where stamp.coins == .zero { throw .worthNothing(id: stamp.id) }
        for (id, entries) in self.products { try Catalogue.check(id, entries.map(\.validity)) }
        for (id, entries) in self.stamps { try Catalogue.check(id, entries.map(\.validity)) }
    }

    private static func check(_ id: String, _ validities: [Validity]) throws(Invalid) {
        for (index, validity) in validities.enumerated() {
            if validity.isEmpty { throw .neverValid(id: id) }
            for other in validities[..<index] where validity.overlaps(other) {
                throw .overlapping(id: id)
            }
        }
    }

    package enum WorthError: Error, Hashable, Sendable {
        /// The catalogue has no such product at that instant.
        case unknownProduct
        /// The product times the quantity is more than `Coins` holds.
        case tooManyCoins
    }

    /// What `quantity` units of a product bought at `time` are worth.
    package func worth(
        of productID: String, quantity: Int64, at time: Timestamp
    ) throws(WorthError) -> GrantedCoins {
        guard let product = products[productID]?.first(where: { $0.validity.contains(time) }) else {
            throw .unknownProduct
        }
        guard let paid = product.coins.paid.multiplied(by: quantity),
            let free = product.coins.free.multiplied(by: quantity), paid.adding(free) != nil
        else { throw .tooManyCoins }
        return GrantedCoins(paid: paid, free: free)
    }

    /// What one stamp costs at `time`; nil if there is no such stamp then.
    package func price(of stampID: String, at time: Timestamp) -> Coins? {
        stamps[stampID]?.first { $0.validity.contains(time) }?.coins
    }
}
