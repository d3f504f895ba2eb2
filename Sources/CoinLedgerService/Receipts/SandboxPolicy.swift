package import CoinLedger

/// What a service does with purchases made with play money.
package enum SandboxPolicy: Hashable, Sendable {
    case refuse
    /// Granted to every account's sandbox balance, which never mixes with the real one.
    case separate
    /// As `separate`, but for these accounts only.
    case allowList(Set<AccountID>)

    func allows(_ account: AccountID) -> Bool {
        switch self {
        case .refuse: false
        case .separate: true
        case .allowList(let accounts): accounts.contains(account)
        }
    }
}
