import CoinLedger
import EventStore

/// The fold of one lane's events, for the audit.
struct LaneFold {
    let lane: Lane
    private let laneCount: Int64
    private(set) var position: Int64 = 0
    private(set) var accounts: [AccountID: Account] = [:]
    private(set) var lots = LotFold()
    private(set) var claims = ClaimFold()

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
            let decoded = try event.decoded()
            // Taken out while it changes: a state with thousands of lots must not be copied.
            var account = accounts.removeValue(forKey: event.account) ?? .new
            account.evolve(decoded, id: event.id)
            if event.version != account.version {
                report.find(
                    "event \(event.id): version \(event.version) of \(event.account) "
                        + "where \(account.version) is due")
            }
            accounts[event.account] = account
            claims.take(decoded, event)
            lots.take(decoded, event, &report)
        } catch {
            report.find("event \(event.id): \(error)")
        }
    }

    /// The claims since the last call, but for remembered refunds.
    mutating func takeClaims() -> ClaimFold.Claims { claims.takeClaims() }
}
