package import CoinLedger

/// What has become of a command, and its account after it.
package struct Outcome: Sendable {
    package enum Result: Hashable, Sendable {
        /// It caused these events, in this order.
        case done([EventID])
        /// It changes nothing.
        case rejected(Rejection)
    }

    package let result: Result
    package let account: Account

    package init(result: Result, account: Account) {
        self.result = result
        self.account = account
    }
}
