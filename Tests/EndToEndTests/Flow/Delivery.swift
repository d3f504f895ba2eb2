import Testing

/// When the store's ONE_TIME_CHARGE comes in relation to the post, and what it says of its owner.
struct Delivery: Hashable, Sendable, CustomTestStringConvertible {
    enum Order: String, CaseIterable, Sendable {
        case never
        case afterPost = "after the post"
        case beforePost = "before the post"
        case atOnce = "at the same time"
    }

    let order: Order
    /// Whether purchases carry the token of the viewer's account.
    let hasToken: Bool

    static let all = Order.allCases.flatMap { order in
        [true, false].map { Delivery(order: order, hasToken: $0) }
    }

    var testDescription: String {
        "ONE_TIME_CHARGE \(order.rawValue), \(hasToken ? "with" : "without") a token"
    }
}
