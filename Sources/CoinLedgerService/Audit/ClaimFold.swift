import CoinLedger
import EventStore

/// What the events of a lane have claimed.
struct ClaimFold {
    /// Claims that stay as they were made.
    struct Claims {
        var purchases: [(key: PurchaseKey, claim: PurchaseClaim)] = []
        var tokens: [(token: AppAccountToken, account: AccountID, id: EventID)] = []
        var reversals: [(spend: EventID, id: EventID)] = []
        var orders: [(order: OrderID, id: EventID)] = []
    }

    private var claims = Claims()
    /// The last word on each purchase that nobody had then. A grant may have taken it over since.
    private(set) var remembered: [PurchaseKey: EventID] = [:]
    /// What the last event recorded, for the grant that follows it.
    private var recorded: Purchase?

    mutating func takeClaims() -> Claims {
        defer { claims = Claims() }
        return claims
    }

    mutating func take(_ event: Event, _ stored: StoredEvent) {
        let recorded = recorded
        self.recorded = nil
        switch event {
        case .purchaseRecorded(let event): self.recorded = event.purchase
        case .appAccountTokenLinked(let token):
            claims.tokens.append((token, stored.account, stored.id))
        case .coinsGranted(let granted):
            guard case .purchase(let key) = granted.source else { break }
            let claim = PurchaseClaim(
                account: stored.account, command: stored.command, grant: stored.id,
                coins: granted.coins)
            let keys = recorded?.key == key ? recorded?.claimedKeys : nil
            for key in keys ?? [key] { claims.purchases.append((key, claim)) }
        case .spendReversed(let reversed):
            claims.reversals.append((reversed.spend, stored.id))
        case .orderRecorded(let order): claims.orders.append((order.id, stored.id))
        case .refundRemembered(let refund): remembered[refund.purchase] = stored.id
        case .coinsSpent, .coinsExpired, .coinsAdjusted, .coinsHeld, .holdReleased,
            .purchaseRefunded, .refundReversed, .debtPaid, .consentRecorded:
            break
        }
    }
}
