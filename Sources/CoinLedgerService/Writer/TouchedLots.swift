import CoinLedger
import EventStore

/// The lots that a batch opens, draws from and gives back to.
struct TouchedLots {
    private struct Opened {
        let environment: Environment
        let lot: Lot
        let source: StoredLot.Source
        let grant: EventID
        let grantedAt: Timestamp
    }

    private struct Older {
        let environment: Environment
        let lot: Lot
        /// Before the batch.
        let openedAt: Int64?
    }

    private var opened: [LotID: Opened] = [:]
    private var older: [LotID: Older] = [:]

    /// - Parameter account: its state before `event`, in which what is drawn from is still open.
    mutating func note(_ event: Event, _ id: EventID, of command: Command, before account: Account)
    {
        func open(_ lot: Lot, _ environment: Environment, _ source: StoredLot.Source) {
            opened[LotID(account: command.account, number: lot.number)] = Opened(
                environment: environment, lot: lot, source: source, grant: id,
                grantedAt: command.time)
        }
        func touch(_ lot: Lot, _ environment: Environment, _ open: OpenLot?) {
            let id = LotID(account: command.account, number: lot.number)
            guard opened[id] == nil, older[id] == nil else { return }
            older[id] = Older(environment: environment, lot: lot, openedAt: open?.openedAt)
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
        func rest(_ id: LotID, _ environment: Environment, _ lot: Lot) -> LotRest {
            let open = states[id.account]?[environment].openLot(lot)
            return LotRest(open ?? .closed(lot))
        }
        batch.newLots = opened.map { id, opened in
            StoredLot(
                account: id.account, environment: opened.environment, lot: opened.lot,
                source: opened.source, grant: opened.grant, grantedAt: opened.grantedAt,
                rest: rest(id, opened.environment, opened.lot))
        }
        for (id, older) in older {
            batch.changedLots[id] = ChangedLot(
                environment: older.environment, lot: older.lot, openedAt: older.openedAt,
                rest: rest(id, older.environment, older.lot))
        }
    }
}
