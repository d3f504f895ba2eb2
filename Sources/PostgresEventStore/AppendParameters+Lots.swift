import CoinLedger
import EventStore
import Postgres

/// Lots that leave their account's row, and what a batch leaves of those that had left it.
extension AppendParameters {
    static func olderLots(
        _ lots: [(account: AccountID, lot: ChangedLot)], _ rows: consuming PostgresRecordWriter
    ) -> PostgresValue {
        .rows(of: lots, rows) { leaving, row in
            let lot = leaving.lot.lot
            row.add(leaving.account.text)
            row.add(lot.number)
            row.add(leaving.lot.openedAt)
            row.add(leaving.lot.environment.rawValue)
            row.add(lot.kind.rawValue)
            row.add(lot.coins.amount)
            row.add(leaving.lot.rest.remaining.amount)
            row.add(milliseconds: lot.expiresAt?.milliseconds)
            row.add(lot.price?.milliunits)
            row.add(lot.price?.currency)
            row.add(leaving.lot.rest.valueOut)
        }
    }

    static func changedLots(
        _ lots: [(id: LotID, rest: LotRest)], _ rows: consuming PostgresRecordWriter
    ) -> PostgresValue {
        .rows(of: lots, rows) { lot, row in
            row.add(lot.id.account.text)
            row.add(lot.id.number)
            row.add(lot.rest.remaining.amount)
            row.add(lot.rest.valueOut)
        }
    }
}
