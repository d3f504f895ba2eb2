package import CoinLedger

extension CommandID {
    /// A new one, from the system's source of randomness.
    package static func random() -> CommandID {
        CommandID(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
    }
}
