import CoinLedger
import EventStore
import Postgres

/// A batch as the arguments of `append_events`, in their order.
struct AppendParameters {
    static let count = 17
    let values: [PostgresValue]

    init(_ batch: Batch, _ types: AppendTypes) {
        var values: [PostgresValue] = []
        values.reserveCapacity(AppendParameters.count)
        values += [
            .int8(batch.lane.number), .int8(batch.expectedHead.position),
            .int8(batch.expectedHead.batch), .int8(batch.number),
        ]
        values.append(AppendParameters.events(batch.events, types.events))
        values.append(AppendParameters.accounts(batch.accounts, types.accounts))
        values.append(AppendParameters.claims(batch, types.purchases))
        values += AppendParameters.tokens(batch.tokenOwners)
        values += AppendParameters.reversals(batch.reversals)
        values += AppendParameters.orders(batch.orders)
        let places = LotPlaces(after: batch.accounts)
        values.append(AppendParameters.olderLots(places.leaving, types.olderLots))
        values.append(AppendParameters.changedLots(places.changed, types.changedLots))
        values.append(AppendParameters.answers(batch.answers, types.answers))
        self.values = values
    }

    private static func events(
        _ events: [StoredEvent], _ rows: consuming PostgresRecordWriter
    ) -> PostgresValue {
        .rows(of: events, rows) { event, row in
            row.add(event.account.text)
            row.add(event.version)
            row.add(high: event.command.high, low: event.command.low)
            row.add(event.type)
            row.add(event.schemaVersion)
            row.add(milliseconds: event.occurredAt.milliseconds)
            row.add(milliseconds: event.recordedAt.milliseconds)
            row.add(event.payload)
        }
    }

    private static func accounts(
        _ accounts: [ChangedAccount], _ rows: consuming PostgresRecordWriter
    ) -> PostgresValue {
        .rows(of: accounts, rows) { changed, row in
            let account = changed.account
            row.add(changed.id.text)
            row.add(changed.versionBefore)
            row.add(account.version)
            row.add(account.production.paid.amount)
            row.add(account.production.free.amount)
            row.add(account.sandbox.paid.amount)
            row.add(account.sandbox.free.amount)
            row.add(account.lotCount)
            row.add(milliseconds: account.production.nextExpiry?.milliseconds)
            row.add(milliseconds: account.sandbox.nextExpiry?.milliseconds)
            row.add(LotPlaces.openLots(of: account))
            row.add(AccountDetailsCodec.encode(AccountDetails(account)))
        }
    }

    private static func answers(
        _ answers: [IdempotencyKey: StoredAnswer], _ rows: consuming PostgresRecordWriter
    ) -> PostgresValue {
        let sorted = answers.sorted { $0.key.order < $1.key.order }
        return .rows(of: sorted, rows) { answer, row in
            row.add(answer.key.account.text)
            row.add(answer.key.text)
            row.add(answer.value.requestSHA256)
            row.add(answer.value.status)
            row.add(answer.value.body)
            row.add(milliseconds: answer.value.recordedAt.milliseconds)
        }
    }
}

/// Arrays in which nothing is are sent as NULL, which the server doesn't even look at.
extension PostgresValue {
    static func rows<Items: Collection>(
        of items: Items, _ rows: consuming PostgresRecordWriter,
        _ add: (Items.Element, inout PostgresRecordWriter) -> Void
    ) -> PostgresValue {
        guard !items.isEmpty else { return .null }
        for (index, item) in items.enumerated() {
            rows.addRow { add(item, &$0) }
            if index == 0 { rows.reserve(items.count) }
        }
        return .records(rows.finish())
    }

    static func numbers(_ values: [Int64]) -> PostgresValue {
        values.isEmpty ? .null : .int8Array(values)
    }

    static func texts(_ values: [String]) -> PostgresValue {
        values.isEmpty ? .null : .textArray(values)
    }
}

extension IdempotencyKey {
    fileprivate var order: (String, String) { (account.text, text) }
}
