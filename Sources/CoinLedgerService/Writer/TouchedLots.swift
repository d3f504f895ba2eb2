import CoinLedger
import EventStore

/// The lots that a batch opens, draws from and gives back to.
struct TouchedLots {
    private struct Touched {
        let environment: Environment
        let lot: Lot
        /// When it was first touched.
        let openedAt: Int64?
    }

    private var opened: [StoredLot] = []
    private var touched: [LotID: Touched] = [:]

    /// - Parameter account: its state before `event`, in which what is drawn from is still open.
    mutating func note(_ event: Event, _ id: EventID, of command: Command, before account: Account)
    {
        func open(_ lot: Lot, _ environment: Environment, _ source: StoredLot.Source) {
            opened.append(
                StoredLot(
                    account: command.account, environment: environment, lot: lot, source: source,
                    grant: id, grantedAt: command.time, rest: LotRest(OpenLot(lot))))
        }
        func touch(_ lot: Lot, _ environment: Environment, _ open: OpenLot?) {
            let id = LotID(account: command.account, number: lot.number)
            guard touched[id] == nil else { return }
            touched[id] = Touched(environment: environment, lot: lot, openedAt: open?.openedAt)
        }
        func touch(_ slices: [Slice], _ environment: Environment) {
            for slice in slices {
                guard let open = account[environment].openLot(slice.lot) else { continue }
                touch(open.lot, environment, open)
            }
        }
        func touch(_ slices: [ReturnedSlice], _ environment: Environment) {
            for slice in slices {
                touch(slice.lot, environment, account[environment].openLot(slice.lot))
            }
        }
        switch event {
        case .coinsGranted(let event):
            for lot in event.lots { open(lot, event.environment, StoredLot.Source(event.source)) }
        case .coinsSpent(let event): touch(event.slices, event.environment)
        case .spendReversed(let event): touch(event.returned, event.environment)
        case .coinsExpired(let event): touch(event.slices, event.environment)
        case .coinsAdjusted(let event):
            switch event.change {
            case .added(let lot):
                open(lot, event.environment, .support(ticketID: event.ticketID))
            case .removed(let slices): touch(slices, event.environment)
            }
        case .purchaseRefunded(let event): touch(event.taken, event.purchase.environment)
        case .refundReversed(let event): touch(event.returned, event.purchase.environment)
        case .debtPaid(let event): touch(event.taken, event.purchase.environment)
        case .purchaseRecorded, .appAccountTokenLinked, .coinsHeld, .holdReleased,
            .refundRemembered, .consentRecorded, .orderRecorded:
            break
        }
    }

    /// - Parameter states: the accounts after the batch.
    func write(to batch: inout Batch, _ states: [AccountID: Account]) {
        batch.newLots = opened
        for (id, touched) in touched {
            let open = states[id.account]?[touched.environment].openLot(touched.lot)
            batch.changedLots[id] = ChangedLot(
                environment: touched.environment, lot: touched.lot, openedAt: touched.openedAt,
                rest: LotRest(open ?? .closed(touched.lot)))
        }
    }
}
