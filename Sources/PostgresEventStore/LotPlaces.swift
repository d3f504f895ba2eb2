import CoinLedger
import EventStore

/// Where lots are kept, and which of them a batch has change their place.
///
/// An account's newest lots are in its own row, as long as they have never been used up, so that
/// hardly anything but that row has to be read and written. All others have rows of their own.
struct LotPlaces {
    /// A lot that gets a row of its own.
    struct Leaving {
        let account: AccountID
        let environment: Environment
        let lot: Lot
        let position: Int64
        let rest: LotRest
    }

    private(set) var leaving: [Leaving] = []
    /// Lots that have had rows of their own, with what is left of them.
    private(set) var changed: [(id: LotID, rest: LotRest)] = []

    /// How many of an account's numbers, counted from its last one, are those of lots in its row.
    static let newestMax: Int64 = 8

    /// The lots in the row of `account`; nil if there are none.
    static func openLots(of account: Account) -> [UInt8]? {
        OpenLotsCodec.encode(account, above: account.lotCount - newestMax)
    }

    init(_ batch: Batch) {
        var opened: [AccountID: Int64] = [:]
        for lot in batch.newLots { opened[lot.account, default: 0] += 1 }
        for (id, lot) in batch.changedLots {
            let account = batch.accounts[id.account]
            let before = (account?.lotCount ?? 0) - opened[id.account, default: 0]
            if let position = lot.openedAt, id.number > before - LotPlaces.newestMax {
                // It stays in the row, or gives way as others do.
                if account?[lot.environment].openLot(lot.lot)?.openedAt != nil { continue }
                leaving.append(
                    Leaving(
                        account: id.account, environment: lot.environment, lot: lot.lot,
                        position: position, rest: lot.rest))
            } else {
                changed.append((id, lot.rest))
            }
        }
        for (id, count) in opened {
            guard let account = batch.accounts[id], account.lotCount > LotPlaces.newestMax else {
                continue
            }
            giveWay(id, account, openedCount: count)
        }
    }

    /// Open lots that are among the newest no more.
    private mutating func giveWay(_ id: AccountID, _ account: Account, openedCount: Int64) {
        let last = account.lotCount - LotPlaces.newestMax
        for environment in Environment.allCases {
            account[environment].forEachOpenLot(above: last - openedCount) { open in
                guard open.lot.number <= last, let position = open.openedAt else { return }
                leaving.append(
                    Leaving(
                        account: id, environment: environment, lot: open.lot, position: position,
                        rest: LotRest(open)))
            }
        }
    }
}
