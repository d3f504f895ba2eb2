import CoinLedger
import CoinLedgerAPI
import CoinLedgerService

/// What a command comes to: work for the ledger, and how to word what becomes of it.
struct CommandPlan: Sendable {
    let work: Work
    let answer: @Sendable (Outcome) -> Answer

    enum Work: Sendable {
        case action(Command.Action)
        /// Nothing for the ledger, unless the key was answered otherwise before.
        case refuse(Problem)
    }

    init(
        _ action: Command.Action, of account: AccountID,
        _ words: @escaping @Sendable (DoneCommand) -> Answer
    ) {
        self.init(work: .action(action)) { Answer($0, of: account, words) }
    }

    /// What depends on the time, the catalogue or the policy is refused like this, so that a key
    /// that was answered before gets that answer again.
    static func refuse(_ problem: Problem) -> CommandPlan {
        CommandPlan(work: .refuse(problem)) { _ in Answer(problem) }
    }

    private init(work: Work, answer: @escaping @Sendable (Outcome) -> Answer) {
        self.work = work
        self.answer = answer
    }
}

/// Turns requests into plans, at one instant and by one catalogue and policy.
struct CommandPlanner: Sendable {
    let rules: CommandRules
    let now: Timestamp

    static let reasonBytes = 1...500
    static let amounts = 1...Coins.amountMax

    /// - Parameter spent: what was recorded of the spend that a reversal is about.
    func plan(
        _ request: CommandRequest, reversing spent: CoinsSpent? = nil
    ) throws(InvalidRequest) -> CommandPlan {
        switch request.kind {
        case .grant: return try grant(request)
        case .spend: return try spend(request)
        case .adjustment: return try adjustment(request)
        case .hold: return try hold(request)
        case .reversal:
            guard let target = request.target, let spent else {
                throw InvalidRequest(request.kind.targetProblem)
            }
            let reason = try reason(request.body)
            let reversal = SpendReversal(spend: target, spent: spent, reason: reason)
            return CommandPlan(.reverseSpend(reversal), of: request.account) {
                $0.reversal(of: target)
            }
        case .capture:
            let target = try target(request)
            let coins = try request.body.optionalCoins("coins")
            return CommandPlan(rules.capture(target, coins), of: request.account) { $0.spend() }
        case .release:
            let target = try target(request)
            return CommandPlan(.releaseHold(target), of: request.account) {
                $0.release(of: target)
            }
        }
    }

    private func target(_ request: CommandRequest) throws(InvalidRequest) -> EventID {
        guard let target = request.target else { throw InvalidRequest(request.kind.targetProblem) }
        return target
    }

    private func reason(_ body: RequestBody) throws(InvalidRequest) -> String {
        try body.text("reason", bytes: CommandPlanner.reasonBytes)
    }

    private func grant(_ request: CommandRequest) throws(InvalidRequest) -> CommandPlan {
        let body = request.body
        let coins = try body.coins("coins")
        let reason = try reason(body)
        let campaign = try body.optionalIdentifier("campaignId")
        let environment = try body.environment()
        var expiresAt = rules.freeExpiry(at: now)
        if body.isNull("expiresAt") {
            expiresAt = nil
        } else if body.has("expiresAt") {
            let stated = try body.timestamp("expiresAt")
            guard stated > now else {
                return .refuse(
                    RequestBody.invalid("expiresAt", "The instant must be in the future.").problem)
            }
            expiresAt = stated
        }
        let gift = Gift(
            environment: environment, coins: coins, expiresAt: expiresAt, reason: reason,
            campaignID: campaign)
        return CommandPlan(.give(gift), of: request.account) { $0.grant() }
    }

    private func adjustment(_ request: CommandRequest) throws(InvalidRequest) -> CommandPlan {
        let body = request.body
        let amount = try body.integer("coins", in: -Coins.amountMax...Coins.amountMax)
        guard amount != 0, let coins = Coins(abs(amount)) else {
            throw RequestBody.invalid("coins", "The field mustn't be zero.")
        }
        guard try body.string("kind") == Lot.Kind.free.rawValue else {
            throw RequestBody.invalid("kind", "Only free coins are adjusted.")
        }
        let change: Adjustment.Change =
            amount > 0 ? .add(coins, expiresAt: rules.freeExpiry(at: now)) : .remove(coins)
        let adjustment = Adjustment(
            environment: try body.environment(), change: change, reason: try reason(body),
            ticketID: try body.identifier("ticketId"))
        return CommandPlan(.adjust(adjustment), of: request.account) { $0.adjustment() }
    }

    private func spend(_ request: CommandRequest) throws(InvalidRequest) -> CommandPlan {
        let environment = try request.body.environment()
        switch try price(request) {
        case .failure(let refusal): return .refuse(refusal.problem)
        case .success(let price):
            let action = rules.spend(price.coins, on: price.purpose, environment)
            return CommandPlan(action, of: request.account) { $0.spend() }
        }
    }

    private func hold(_ request: CommandRequest) throws(InvalidRequest) -> CommandPlan {
        let environment = try request.body.environment()
        let seconds = try request.body.optionalInteger("holdSeconds", in: 1...Int64.max)
        let price: Price
        switch try self.price(request) {
        case .failure(let refusal): return .refuse(refusal.problem)
        case .success(let found): price = found
        }
        if let seconds, seconds > rules.policy.holdSecondsMax {
            let longest = rules.policy.holdSecondsMax
            return .refuse(
                RequestBody.invalid(
                    "holdSeconds", "Coins are held for \(longest) seconds at most."
                ).problem)
        }
        let action = rules.hold(
            price.coins, for: price.purpose, environment, seconds: seconds, at: now)
        return CommandPlan(action, of: request.account) { $0.hold() }
    }
}
