import CoinLedger
import EventStore

/// Where lots are kept, and which of them a batch has change their place.
///
/// An account's newest lots are in its own row, as long as they have never been used up, so that
/// hardly anything but that row has to be read and written. All others have rows of their own.
struct LotPlaces {
    /// Lots that get rows of their own; each has the position of the event that opened it.
    private(set) var leaving: [(account: AccountID, lot: ChangedLot)] = []
    /// Lots that have had rows of their own, with what is left of them.
    private(set) var changed: [(id: LotID, rest: LotRest)] = []

    /// How many of an account's newest numbers are those of lots in its row, at least; twice as many
    /// are too many, and half of them leave together, since a statement costs more than what it writes.
    private static let newestMin: Int64 = 8

    /// The lots in the row of `account`; nil if there are none.
    static func openLots(of account: Account) -> [UInt8]? {
        OpenLotsCodec.encode(account, above: lastGone(account.lotCount))
    }

    /// The last number that is among the newest no more, of an account that has had so many lots; 0 if
    /// there is none.
    private static func lastGone(_ lotCount: Int64) -> Int64 {
        max(0, lotCount / newestMin - 1) * newestMin
    }

    init(after accounts: [ChangedAccount]) {
        for account in accounts {
            for lot in account.changedLots { move(lot, of: account) }
            giveWay(in: account)
        }
    }

    private mutating func move(_ lot: ChangedLot, of changed: ChangedAccount) {
        let number = lot.lot.number
        guard lot.openedAt != nil, number > LotPlaces.lastGone(changed.lotCountBefore) else {
            return self.changed.append(
                (LotID(account: changed.id, number: number), lot.rest))
        }
        // It stays in the row, or gives way as others do.
        if changed.account[lot.environment].openLot(lot.lot)?.openedAt != nil { return }
        leaving.append((changed.id, lot))
    }

    /// Open lots that are among the newest no more.
    private mutating func giveWay(in changed: ChangedAccount) {
        let last = LotPlaces.lastGone(changed.account.lotCount)
        let lastBefore = LotPlaces.lastGone(changed.lotCountBefore)
        guard last > lastBefore else { return }
        for environment in Environment.allCases {
            changed.account[environment].forEachOpenLot(above: lastBefore) { open in
                guard open.lot.number <= last, open.openedAt != nil else { return }
                let lot = ChangedLot(
                    environment: environment, lot: open.lot, openedAt: open.openedAt,
                    rest: LotRest(open))
                leaving.append((changed.id, lot))
            }
        }
    }
}
