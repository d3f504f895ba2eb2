import CoinLedger
import EventStore

/// The lots of an account that a batch draws from and gives back to.
struct TouchedLots {
    private struct Touched {
        let environment: Environment
        let lot: Lot
        /// When it was first touched.
        let openedAt: Int64?
    }

    private var touched: [Int64: Touched] = [:]

    /// - Parameter account: its state before `event`, in which what is drawn from is still open.
    mutating func note(_ event: Event, before account: @autoclosure () -> Account) {
        switch event {
        case .coinsSpent(let event): touch(event.slices, event.environment, account())
        case .spendReversed(let event): touch(event.returned, event.environment, account())
        case .coinsExpired(let event): touch(event.slices, event.environment, account())
        case .coinsAdjusted(let event):
            guard case .removed(let slices) = event.change else { return }
            touch(slices, event.environment, account())
        case .purchaseRefunded(let event):
            touch(event.taken, event.purchase.environment, account())
        case .refundReversed(let event):
            touch(event.returned, event.purchase.environment, account())
        case .debtPaid(let event): touch(event.taken, event.purchase.environment, account())
        case .coinsGranted, .purchaseRecorded, .appAccountTokenLinked, .coinsHeld, .holdReleased,
            .refundRemembered, .consentRecorded, .orderRecorded:
            break
        }
    }

    private mutating func touch(
        _ slices: [Slice], _ environment: Environment, _ account: Account
    ) {
        for slice in slices {
            guard let open = account[environment].openLot(slice.lot) else { continue }
            touch(open.lot, environment, open)
        }
    }

    private mutating func touch(
        _ slices: [ReturnedSlice], _ environment: Environment, _ account: Account
    ) {
        for slice in slices {
            touch(slice.lot, environment, account[environment].openLot(slice.lot))
        }
    }

    private mutating func touch(_ lot: Lot, _ environment: Environment, _ open: OpenLot?) {
        guard touched[lot.number] == nil else { return }
        touched[lot.number] = Touched(
            environment: environment, lot: lot, openedAt: open?.openedAt)
    }

    /// - Parameter account: its state after the batch.
    func changed(in account: Account) -> [ChangedLot] {
        touched.values.map { touched in
            let open = account[touched.environment].openLot(touched.lot)
            return ChangedLot(
                environment: touched.environment, lot: touched.lot, openedAt: touched.openedAt,
                rest: LotRest(open ?? .closed(touched.lot)))
        }
    }
}
