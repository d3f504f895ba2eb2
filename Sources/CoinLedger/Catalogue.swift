/// What products are worth in coins, and when. Versioned: each grant names the version it used.
package struct Catalogue: Hashable, Sendable {
    package let version: String
    /// The apps whose products these are.
    package let bundleIDs: [String]
    private let products: [String: [Product]]

    /// The worth of one unit of a product while it's valid.
    package struct Product: Hashable, Sendable {
        package let id: String
        package let coins: GrantedCoins
        package let validFrom: Timestamp?
        package let validUntil: Timestamp?

        package init(
            id: String, coins: GrantedCoins, validFrom: Timestamp?, validUntil: Timestamp?
        ) {
            self.id = id
            self.coins = coins
            self.validFrom = validFrom
            self.validUntil = validUntil
        }

        fileprivate func isValid(at time: Timestamp) -> Bool {
            if let validFrom, time < validFrom { return false }
            if let validUntil, time >= validUntil { return false }
            return true
        }

        fileprivate func overlaps(_ other: Product) -> Bool {
            func begins(_ first: Product, before second: Product) -> Bool {
                guard let from = first.validFrom, let until = second.validUntil else { return true }
                return from < until
            }
            return begins(self, before: other) && begins(other, before: self)
        }
    }

    package enum Invalid: Error, Hashable, Sendable {
        /// A product is worth nothing.
        case worthNothing(productID: String)
        /// A product ends before it begins.
        case neverValid(productID: String)
        /// A product has two worths at one instant.
        case overlapping(productID: String)
    }

    package init(version: String, bundleIDs: [String], products: [Product]) throws(Invalid) {
        self.version = version
        self.bundleIDs = bundleIDs
        self.products = Dictionary(grouping: products, by: \.id)
        for product in products {
            guard product.coins.paid > .zero || product.coins.free > .zero else {
                throw .worthNothing(productID: product.id)
            }
            if let from = product.validFrom, let until = product.validUntil, from >= until {
                throw .neverValid(productID: product.id)
            }
        }
        for (id, versions) in self.products {
            for (index, product) in versions.enumerated() {
                for other in versions[..<index] where product.overlaps(other) {
                    throw .overlapping(productID: id)
                }
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
        guard let product = products[productID]?.first(where: { $0.isValid(at: time) }) else {
            throw .unknownProduct
        }
        guard let paid = product.coins.paid.multiplied(by: quantity),
            let free = product.coins.free.multiplied(by: quantity), paid.adding(free) != nil
        else { throw .tooManyCoins }
        return GrantedCoins(paid: paid, free: free)
    }
}
