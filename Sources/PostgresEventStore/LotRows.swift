import CoinLedger
import EventStore
import Postgres

/// Rows of accounts, with the lots that are in them, and of lots that have rows of their own.
struct LotRows {
    private let rows: PostgresRows

    /// A lot as it's kept, which is without where it came from.
    struct KeptLot {
        let id: LotID
        let environment: Environment
        let lot: Lot
        let grant: EventID
        let rest: LotRest

        func from(_ source: StoredLot.Source, at time: Timestamp) -> StoredLot {
            StoredLot(
                account: id.account, environment: environment, lot: lot, source: source,
                grant: grant, grantedAt: time, rest: rest)
        }
    }

    init(_ rows: PostgresRows) { self.rows = rows }

    /// Up to `limit` lots after `last`, by account (its UTF-8 bytes) and number.
    func page(after last: LotID?, limit: Int) throws(PostgresError) -> [KeptLot] {
        let later = try all().filter { lot in last?.isBefore(lot.id) ?? true }
        return Array(later.sorted { $0.id.isBefore($1.id) }.prefix(limit))
    }

    private func all() throws(PostgresError) -> [KeptLot] {
        var lots: [KeptLot] = []
        for row in 0..<rows.count {
            let account = try rows.account(row, 0)
            let lane = try rows.lane(row, 1)
            guard try rows.isNull(row, 4) else {
                let lot = try rows.lot(row, 4)
                lots.append(
                    KeptLot(
                        id: LotID(account: account, number: lot.number),
                        environment: try rows.environment(row, 12), lot: lot,
                        grant: try rows.event(row, 1), rest: try rows.lotRest(row, 10)))
                continue
            }
            for (environment, open) in try rows.openLots(row, 3) {
                lots.append(
                    KeptLot(
                        id: LotID(account: account, number: open.lot.number),
                        environment: environment, lot: open.lot,
                        grant: EventID(lane: lane, position: open.openedAt ?? 0),
                        rest: LotRest(open)))
            }
        }
        return lots
    }
}
