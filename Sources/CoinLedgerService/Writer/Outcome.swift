package import CoinLedger

/// What has become of a command, and its account after it.
package struct Outcome: Sendable {
    package enum Result: Hashable, Sendable {
        /// It caused these events, in this order; at least one.
        case done([RecordedEvent])
        /// It changes nothing.
        case rejected(Rejection)
    }

    package let result: Result
    /// At the command's time.
    package let balance: AccountBalance

    package init(result: Result, balance: AccountBalance) {
        self.result = result
        self.balance = balance
    }
}

/// An event and the name it got in the log.
package struct RecordedEvent: Hashable, Sendable {
    package let id: EventID
    package let event: Event

    package init(id: EventID, event: Event) {
        self.id = id
        self.event = event
    }
}
