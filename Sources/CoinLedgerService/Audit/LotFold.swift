import CoinLedger
import EventStore

/// Every lot of a lane, closed ones as well, as the events' slices leave it. It adds and takes
/// away by itself, without the domain's code, and says where that doesn't come out.
struct LotFold {
    private(set) var lots: [LotID: StoredLot] = [:]

    mutating func take(_ event: Event, _ stored: StoredEvent, _ report: inout Audit.Report) {
        func open(_ lots: [Lot], _ environment: Environment, _ source: StoredLot.Source) {
            for lot in lots { self.open(lot, environment, source, stored, &report) }
        }
        func move(_ slices: [Slice], _ environment: Environment) {
            for slice in slices {
                change(
                    slice.lot, environment, -slice.coins.amount, slice.value?.milliunits ?? 0,
                    stored, &report)
            }
        }
        func move(_ slices: [ReturnedSlice], _ environment: Environment, _ sign: Int64) {
            for slice in slices {
                change(
                    slice.lot.number, environment, sign * slice.coins.amount,
                    -sign * (slice.value?.milliunits ?? 0), stored, &report)
            }
        }
        switch event {
        case .coinsGranted(let event):
            open(event.lots, event.environment, StoredLot.Source(event.source))
        case .coinsAdjusted(let event):
            switch event.change {
            case .added(let lot): open([lot], event.environment, .support(ticketID: event.ticketID))
            case .removed(let slices): move(slices, event.environment)
            }
        case .coinsSpent(let event): move(event.slices, event.environment)
        case .coinsExpired(let event): move(event.slices, event.environment)
        case .spendReversed(let event): move(event.returned, event.environment, 1)
        case .purchaseRefunded(let event): move(event.taken, event.purchase.environment, -1)
        case .refundReversed(let event): move(event.returned, event.purchase.environment, 1)
        case .debtPaid(let event): move(event.taken, event.purchase.environment, -1)
        case .purchaseRecorded, .appAccountTokenLinked, .coinsHeld, .holdReleased,
            .refundRemembered, .consentRecorded, .orderRecorded:
            break
        }
    }

    private mutating func open(
        _ lot: Lot, _ environment: Environment, _ source: StoredLot.Source,
        _ stored: StoredEvent, _ report: inout Audit.Report
    ) {
        let id = LotID(account: stored.account, number: lot.number)
        if lots[id] != nil {
            report.find("event \(stored.id): opens lot \(id.number) of \(id.account) again")
        }
        lots[id] = StoredLot(
            account: stored.account, environment: environment, lot: lot, source: source,
            grant: stored.id, grantedAt: stored.recordedAt,
            rest: LotRest(remaining: lot.coins, valueOut: 0))
    }

    private mutating func change(
        _ number: Int64, _ environment: Environment, _ coins: Int64, _ valueOut: Int64,
        _ stored: StoredEvent, _ report: inout Audit.Report
    ) {
        let id = LotID(account: stored.account, number: number)
        guard let lot = lots[id], lot.environment == environment else {
            report.find("event \(stored.id): moves coins of lot \(number), which isn't there")
            return
        }
        let remaining = lot.rest.remaining.amount + coins
        guard remaining <= lot.lot.coins.amount, let remaining = Coins(remaining) else {
            report.find("event \(stored.id): leaves \(remaining) coins in lot \(number)")
            return
        }
        lots[id] = lot.with(
            LotRest(remaining: remaining, valueOut: lot.rest.valueOut &+ valueOut))
    }
}
