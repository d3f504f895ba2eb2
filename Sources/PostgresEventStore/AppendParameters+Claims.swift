import CoinLedger
import EventStore
import Postgres

/// What a batch claims: purchases, tokens, spends and orders. All of it is sorted, so that two lanes that
/// claim the same wait for each other in one order.
extension AppendParameters {
    /// A row of `purchases` as it will be, and the event that has it now.
    private struct Claim {
        let key: PurchaseKey
        let account: AccountID
        let event: EventID
        let from: EventID?
    }

    static func claims(_ batch: Batch, _ rows: consuming PostgresRecordWriter) -> PostgresValue {
        var claims = batch.claims.map { key, claim in
            Claim(
                key: key, account: claim.account, event: claim.grant, from: batch.takenOver[key])
        }
        for (key, event) in batch.remembered where batch.claims[key] == nil {
            claims.append(
                Claim(key: key, account: .unclaimed, event: event, from: batch.takenOver[key]))
        }
        return .rows(of: AppendParameters.order(of: claims), rows) { place, row in
            let claim = claims[place.index]
            row.add(claim.key.transactionID.text)
            row.add(claim.key.environment.rawValue)
            row.add(claim.key.store.rawValue)
            row.add(claim.account.text)
            row.add(claim.event.position)
            row.add(claim.from?.lane.number)
            row.add(claim.from?.position ?? 0)
        }
    }

    /// Numbers are sorted, and not claims, which would cost far more to be moved and compared.
    private static func order(of claims: [Claim]) -> [(number: UInt64, index: Int)] {
        claims.indices.map { (claims[$0].key.transactionID.orderNumber, $0) }.sorted { one, other in
            guard one.number == other.number else { return one.number < other.number }
            return claims[one.index].key.precedes(claims[other.index].key)
        }
    }

    static func tokens(_ owners: [AppAccountToken: AccountID]) -> [PostgresValue] {
        let sorted = owners.sorted { $0.key.text < $1.key.text }
        return [.texts(sorted.map(\.key.text)), .texts(sorted.map(\.value.text))]
    }

    static func reversals(_ reversals: [EventID: EventID]) -> [PostgresValue] {
        let sorted = reversals.sorted { $0.key.order < $1.key.order }
        return [
            .numbers(sorted.map(\.key.lane.number)), .numbers(sorted.map(\.key.position)),
            .numbers(sorted.map(\.value.position)),
        ]
    }

    static func orders(_ orders: [OrderID: EventID]) -> [PostgresValue] {
        let sorted = orders.sorted { $0.key.text < $1.key.text }
        return [.texts(sorted.map(\.key.text)), .numbers(sorted.map(\.value.position))]
    }
}

extension TransactionID {
    /// Nearly always enough to tell which of two comes first: the number it reads as, of which the
    /// upper digits may be lost.
    fileprivate var orderNumber: UInt64 {
        text.utf8.reduce(0) { $0 &* 10 &+ UInt64($1) &- 48 }
    }
}

extension PurchaseKey {
    fileprivate func precedes(_ other: PurchaseKey) -> Bool {
        if transactionID != other.transactionID {
            return transactionID.text < other.transactionID.text
        }
        return (environment.rawValue, store.rawValue)
            < (other.environment.rawValue, other.store.rawValue)
    }
}

extension EventID {
    fileprivate var order: (Int64, Int64) { (lane.number, position) }
}
