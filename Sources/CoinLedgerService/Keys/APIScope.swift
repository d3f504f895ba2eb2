/// What a key may do.
package enum APIScope: String, Hashable, Sendable, CaseIterable {
    /// Post receipts and link app account tokens.
    case purchases
    /// Read balances and events.
    case read
    /// Give free coins.
    case grants
    /// Spend and hold coins for stamps, and take spends back.
    case spends
    /// Spend and hold any number of coins for anything.
    case rawSpends = "spends:raw"
    /// What the support desk needs.
    case support
    /// Speak for the store: refunds.
    case store

    fileprivate var bit: UInt8 {
        switch self {
        case .purchases: 1
        case .read: 2
        case .grants: 4
        case .spends: 8
        case .rawSpends: 16
        case .support: 32
        case .store: 64
        }
    }
}

/// Some of them, in a byte: every request compares what it needs with what its key may do.
package struct APIScopes: Hashable, Sendable, ExpressibleByArrayLiteral {
    private var bits: UInt8 = 0

    package init(_ scopes: some Sequence<APIScope>) {
        for scope in scopes { bits |= scope.bit }
    }

    package init(arrayLiteral scopes: APIScope...) { self.init(scopes) }

    package func contains(_ scope: APIScope) -> Bool { bits & scope.bit != 0 }

    package func isDisjoint(with other: APIScopes) -> Bool { bits & other.bits == 0 }

    package mutating func formUnion(_ other: APIScopes) { bits |= other.bits }
}
