import CoinLedger
import CoinLedgerAPI
import CoinLedgerService

/// The commands that move coins: each has a route of its own and a name in a batch.
enum CommandKind: String, Hashable, Sendable, CaseIterable {
    case grant, spend, reversal, adjustment, hold, capture, release

    /// Nil for routes that aren't commands.
    init?(_ route: Route) {
        guard let kind = CommandKind.allCases.first(where: { $0.route == route }) else {
            return nil
        }
        self = kind
    }

    var route: Route {
        switch self {
        case .grant: .grant
        case .spend: .spend
        case .reversal: .reverseSpend
        case .adjustment: .adjust
        case .hold: .hold
        case .capture: .captureHold
        case .release: .releaseHold
        }
    }

    /// The fields of its body.
    var fields: [String] {
        switch self {
        case .grant: ["coins", "reason", "campaignId", "expiresAt", "environment"]
        case .spend: CommandKind.purposeFields
        case .reversal: ["reason"]
        case .adjustment: ["coins", "kind", "reason", "ticketId", "environment"]
        case .hold: CommandKind.purposeFields + ["holdSeconds"]
        case .capture: ["coins"]
        case .release: []
        }
    }

    private static let purposeFields = [
        "stampId", "quantity", "expectedCoins", "coins", "purpose", "programmeId", "performerId",
        "environment",
    ]

    /// What names, in a batch, the event that the command is about: a spend or a hold.
    var targetField: String? {
        switch self {
        case .reversal: "spendId"
        case .capture, .release: "holdId"
        case .grant, .spend, .adjustment, .hold: nil
        }
    }

    /// Scopes any of which lets it in; what its body says may ask for one of them in particular.
    var scopes: APIScopes {
        switch self {
        case .grant: [.grants]
        case .spend, .hold: [.spends, .rawSpends]
        case .reversal, .capture, .release: [.spends]
        case .adjustment: [.support]
        }
    }

    /// The answer where the event that it's about can't be one.
    var targetProblem: Problem {
        switch self {
        case .capture, .release: Problem(.holdNotFound, "The account has no such hold.")
        case .reversal, .grant, .spend, .adjustment, .hold:
            Problem(.spendNotFound, "The account has no such spend.")
        }
    }
}
