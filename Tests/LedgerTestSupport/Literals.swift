package import CoinLedger

// In tests a literal is known to be valid; one that isn't stops the test run. A text that isn't a
// literal still goes through the failing initializer.

extension AccountID: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self = valid(AccountID(text), text) }
}

extension TransactionID: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self = valid(TransactionID(text), text) }
}

extension OrderID: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self = valid(OrderID(text), text) }
}

extension AppAccountToken: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self = valid(AppAccountToken(text), text) }
}

extension Timestamp: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self = valid(Timestamp(text), text) }
}

extension Coins: ExpressibleByIntegerLiteral {
    package init(integerLiteral amount: Int64) { self = valid(Coins(amount), "\(amount)") }
}

extension Lane: ExpressibleByIntegerLiteral {
    package init(integerLiteral number: Int64) { self = valid(Lane(number), "\(number)") }
}

private func valid<Value>(_ value: Value?, _ text: String) -> Value {
    guard let value else { preconditionFailure("\(text) isn't a \(Value.self)") }
    return value
}
