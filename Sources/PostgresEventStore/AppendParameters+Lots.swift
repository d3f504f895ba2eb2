import CoinLedger
import EventStore
import Postgres

/// The lots that a batch opens, and what it leaves of older ones.
extension AppendParameters {
    static func newLots(_ lots: [StoredLot]) -> [PostgresValue] {
        let sources = lots.map { SourceColumns($0.source) }
        return [
            .texts(lots.map(\.account.text)), .numbers(lots.map(\.lot.number)),
            .numbers(lots.map(\.grant.position)), .texts(lots.map(\.environment.rawValue)),
            .texts(lots.map(\.lot.kind.rawValue)), .numbers(lots.map(\.lot.coins.amount)),
            .numbers(lots.map(\.rest.remaining.amount)), .instants(lots.map(\.grantedAt)),
            .instants(lots.map(\.lot.expiresAt)), .numbers(lots.map(\.lot.price?.milliunits)),
            .texts(lots.map(\.lot.price?.currency)), .numbers(lots.map(\.rest.valueOut)),
            .texts(sources.map(\.source)), .texts(sources.map(\.store)),
            .texts(sources.map(\.transactionID)), .texts(sources.map(\.campaignID)),
            .texts(sources.map(\.ticketID)),
        ]
    }

    static func changedLots(_ lots: [LotID: LotRest]) -> [PostgresValue] {
        let changed = Array(lots)
        return [
            .texts(changed.map(\.key.account.text)), .numbers(changed.map(\.key.number)),
            .numbers(changed.map(\.value.remaining.amount)),
            .numbers(changed.map(\.value.valueOut)),
        ]
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
