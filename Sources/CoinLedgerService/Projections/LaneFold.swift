import CoinLedger
import EventStore

/// The fold of one lane's events, for the audit.
struct LaneFold {
    let lane: Lane
    private let laneCount: Int64
    private(set) var position: Int64 = 0
    private(set) var accounts: [AccountID: Account] = [:]
    private var lots: [GrantID: ProjectedLot] = [:]

    private var claims = Claims()
    /// What the last event recorded, for the grant that follows it.
    private var recorded: Purchase?

    /// What events have claimed: purchases and tokens.
    struct Claims {
        var purchases: [(key: PurchaseKey, claim: PurchaseClaim)] = []
        var tokens: [(token: AppAccountToken, account: AccountID, id: EventID)] = []
    }

    private struct GrantID: Hashable {
        let account: AccountID
        let number: Int64
    }

    init(lane: Lane, laneCount: Int64) {
        self.lane = lane
        self.laneCount = laneCount
    }

    mutating func take(_ event: StoredEvent, _ report: inout Audit.Report) {
        report.events += 1
        if event.id.position != position + 1 {
            report.find("lane \(lane.number): after \(position) comes \(event.id.position)")
        }
        position = event.id.position
        if Lane.of(event.account, count: laneCount) != lane {
            report.find("event \(event.id): account \(event.account) belongs to another lane")
        }
        do throws(EventStoreError) {
            var account = accounts[event.account] ?? .new
            let decoded = try event.decoded()
            account.evolve(decoded)
            if event.version != account.version {
                report.find(
                    "event \(event.id): version \(event.version) of \(event.account) "
                        + "where \(account.version) is due")
            }
            accounts[event.account] = account
            claim(decoded, event)
            for lot in LotProjector.lots(of: decoded, event) {
                lots[GrantID(account: lot.account, number: lot.lot.number)] = lot
            }
        } catch {
            report.find("event \(event.id): \(error)")
        }
    }

    /// The claims since the last call.
    mutating func takeClaims() -> Claims {
        defer { claims = Claims() }
        return claims
    }

    private mutating func claim(_ event: Event, _ stored: StoredEvent) {
        switch event {
        case .purchaseRecorded(let event):
            recorded = event.purchase
            return
        case .appAccountTokenLinked(let token):
            claims.tokens.append((token, stored.account, stored.id))
        case .coinsGranted(let granted):
            guard case .purchase(let key) = granted.source else { break }
            let claim = PurchaseClaim(
                account: stored.account, command: stored.command, grant: stored.id,
                coins: granted.coins)
            let keys = recorded?.key == key ? recorded?.claimedKeys : nil
            for key in keys ?? [key] { claims.purchases.append((key, claim)) }
        }
        recorded = nil
    }

    func compare(_ kept: ProjectedLot, _ report: inout Audit.Report) {
        let folded = lots[GrantID(account: kept.account, number: kept.lot.number)]
        if folded != kept {
            report.find(
                "lot \(kept.lot.number) of \(kept.account): kept as \(kept), "
                    + "but its events say \(folded.map { "\($0)" } ?? "nothing")")
        }
    }
}
