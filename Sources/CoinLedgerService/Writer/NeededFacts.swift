import CoinLedger
import EventStore

/// What has to be read before a batch can be decided.
struct NeededFacts {
    private var accounts: Set<AccountID> = []
    private var accountsWithoutLots: Set<AccountID> = []
    private var purchases: Set<PurchaseKey> = []
    private var tokens: Set<AppAccountToken> = []
    private var spends: Set<EventID> = []
    private var orders: Set<OrderID> = []
    private var lots: Set<LotID> = []
    private var keys: Set<IdempotencyKey> = []

    /// Asks for the lots of an account that was to be read without.
    mutating func addLots(of id: AccountID) {
        accounts.insert(id)
        accountsWithoutLots.remove(id)
    }

    /// - Parameter accounts: what is known already.
    mutating func add(_ work: QueuedWork, in accounts: KnownAccounts) {
        if case .keyed(let request, _) = work {
            // Nothing is written by a dry run, so that nothing would refuse a taken key.
            if !request.isDryRun { keys.insert(request.key) }
        }
        guard let command = work.command else { return }
        add(command, accounts[command.account])
        switch command.action {
        case .grantPurchase(let grant):
            purchases.formUnion(grant.purchase.claimedKeys)
            if let token = grant.purchase.appAccountToken { tokens.insert(token) }
        case .linkAppAccountToken(let token): tokens.insert(token)
        case .reverseSpend(let reversal):
            spends.insert(reversal.spend)
            for slice in reversal.spent.slices {
                lots.insert(LotID(account: command.account, number: slice.lot))
            }
        case .rememberRefund(let refund):
            purchases.insert(refund.purchase)
        case .recordOrder(let order): orders.insert(order.id)
        case .give, .spend, .adjust, .hold, .captureHold, .releaseHold, .expireCoins, .refund,
            .recordConsent:
            break
        }
    }

    private mutating func add(_ command: Command, _ known: KnownAccount?) {
        let id = command.account
        if let known {
            if NeededFacts.needsLots(command, known.account) { addLots(of: id) }
        } else if !accounts.contains(id) {
            // Nearly always that's enough; if not, it's read again.
            accountsWithoutLots.insert(id)
        }
    }

    /// Whether a command can't be decided without lots that aren't among what is known of its account.
    static func needsLots(_ command: Command, _ known: Account) -> Bool {
        known.isPartial && (command.action.needsLots || known.isUncertain(at: command.time))
    }

    /// Whether `work` can be decided from what is known of its account. Claims on purchases and keys
    /// can be done without, if need be: `append` refuses those that are taken.
    static func isEnough(_ known: KnownAccount?, for work: QueuedWork, withClaims: Bool) -> Bool {
        // Nothing is written by a dry run, so that it claims no key.
        if withClaims, case .keyed(let request, _) = work, !request.isDryRun { return false }
        guard let command = work.command else { return true }
        guard let known, !needsLots(command, known.account) else { return false }
        switch command.action {
        case .grantPurchase(let grant):
            return !withClaims && grant.purchase.appAccountToken == nil
        case .linkAppAccountToken, .reverseSpend, .rememberRefund, .recordOrder: return false
        case .give, .spend, .adjust, .hold, .captureHold, .releaseHold, .expireCoins, .refund,
            .recordConsent:
            return true
        }
    }

    func loadRequest(in lane: Lane) -> LoadRequest {
        var request = LoadRequest(lane: lane)
        request.accounts = Array(accounts)
        request.accountsWithoutLots = Array(accountsWithoutLots)
        request.purchases = Array(purchases)
        request.tokens = Array(tokens)
        request.spends = Array(spends)
        request.orders = Array(orders)
        request.lots = Array(lots)
        request.keys = Array(keys)
        return request
    }
}
