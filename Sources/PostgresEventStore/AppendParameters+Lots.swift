import CoinLedger
import EventStore
import Postgres

/// The lots that a batch opens, and what it leaves of older ones.
extension AppendParameters {
    static func newLots(_ lots: [StoredLot], _ records: PostgresRecords) -> PostgresValue {
        .rows(of: lots, records) { stored, row in
            let lot = stored.lot
            let source = SourceColumns(stored.source)
            row.add(stored.account.text)
            row.add(lot.number)
            row.add(stored.grant.position)
            row.add(stored.environment.rawValue)
            row.add(lot.kind.rawValue)
            row.add(lot.coins.amount)
            row.add(stored.rest.remaining.amount)
            row.add(milliseconds: stored.grantedAt.milliseconds)
            row.add(milliseconds: lot.expiresAt?.milliseconds)
            row.add(lot.price?.milliunits)
            row.add(lot.price?.currency)
            row.add(stored.rest.valueOut)
            row.add(source.source)
            row.add(source.store)
            row.add(source.transactionID)
            row.add(source.campaignID)
            row.add(source.ticketID)
        }
    }

    static func changedLots(
        _ lots: [LotID: LotRest], _ records: PostgresRecords
    ) -> PostgresValue {
        .rows(of: lots, records) { lot, row in
            row.add(lot.key.account.text)
            row.add(lot.key.number)
            row.add(lot.value.remaining.amount)
            row.add(lot.value.valueOut)
        }
    }
}

/// Where a lot came from, as columns.
struct SourceColumns {
    let source: String
    var store: String?
    var transactionID: String?
    var campaignID: String?
    var ticketID: String?

    static let purchase = "purchase"
    static let gift = "gift"
    static let support = "support"

    init(_ source: StoredLot.Source) {
        switch source {
        case .purchase(let key):
            self.source = SourceColumns.purchase
            store = key.store.rawValue
            transactionID = key.transactionID.text
        case .gift(let campaignID):
            self.source = SourceColumns.gift
            self.campaignID = campaignID
        case .support(let ticketID):
            self.source = SourceColumns.support
            self.ticketID = ticketID
        }
    }
}
