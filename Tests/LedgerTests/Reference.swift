/// The rules of the ledger once more, as plain as can be, for comparison. It shares nothing with
/// the code it judges: accounts, purchases and tokens are texts, coins are plain numbers.
struct Reference {
    struct Wish {
        enum What {
            case purchase(id: String, original: String, coins: [Int], token: String?)
            case link(token: String)
        }

        let number: UInt64
        let account: String
        let environment: String
        let what: What
    }

    enum Verdict: String {
        case granted, already, elsewhere, foreign, tooLarge
        case linked, linkedAlready, linkedElsewhere
        /// Nothing that could be said of these wishes.
        case impossible
    }

    static let most = 9_007_199_254_740_991

    /// Coins by `account environment`: paid and free.
    private(set) var balances: [String: [Int]] = [:]
    private(set) var eventCounts: [String: Int] = [:]
    private(set) var lotCounts: [String: Int] = [:]
    /// Who has what by `environment id`, and by which wish.
    private var buyers: [String: (account: String, wish: UInt64)] = [:]
    private var owners: [String: String] = [:]

    mutating func judge(_ wish: Wish) -> Verdict {
        switch wish.what {
        case .link(let token): link(token, wish.account)
        case .purchase(let id, let original, let coins, let token):
            buy(wish, [id, original], coins, token)
        }
    }

    private mutating func link(_ token: String, _ account: String) -> Verdict {
        if let owner = owners[token] { return owner == account ? .linkedAlready : .linkedElsewhere }
        owners[token] = account
        eventCounts[account, default: 0] += 1
        return .linked
    }

    private mutating func buy(
        _ wish: Wish, _ ids: [String], _ coins: [Int], _ token: String?
    ) -> Verdict {
        let names = ids.map { "\(wish.environment) \($0)" }
        if let buyer = names.compactMap({ buyers[$0] }).first {
            if buyer.account != wish.account { return .elsewhere }
            // A wish that's heard twice has been granted.
            return buyer.wish == wish.number ? .granted : .already
        }
        if let token, owners[token] ?? token != wish.account { return .foreign }
        let purse = "\(wish.account) \(wish.environment)"
        let sums = zip(balances[purse] ?? [0, 0], coins).map { $0 + $1 }
        if sums[0] + sums[1] > Reference.most { return .tooLarge }
        balances[purse] = sums
        for name in names { buyers[name] = (wish.account, wish.number) }
        eventCounts[wish.account, default: 0] += 2
        lotCounts[wish.account, default: 0] += coins.count { $0 > 0 }
        return .granted
    }
}
