import CoinLedger
import EventStore
import Postgres

/// A batch as the arguments of `append_events`, in their order.
struct AppendParameters {
    static let count = 62
    let values: [PostgresValue]

    init(_ batch: Batch) {
        var values: [PostgresValue] = []
        values.reserveCapacity(AppendParameters.count)
        values += [.int8(batch.lane.number), .int8(batch.expectedHead)]
        values += AppendParameters.events(batch.events)
        values += AppendParameters.accounts(batch)
        values += AppendParameters.claims(batch)
        values += AppendParameters.tokens(batch.tokenOwners)
        values += AppendParameters.reversals(batch.reversals)
        values += AppendParameters.orders(batch.orders)
        values += AppendParameters.newLots(batch.newLots)
        values += AppendParameters.changedLots(batch.changedLots)
        values += AppendParameters.answers(batch.answers)
        self.values = values
    }

    private static func events(_ events: [StoredEvent]) -> [PostgresValue] {
        [
            .texts(events.map(\.account.text)), .numbers(events.map(\.version)),
            .bytes(events.map(\.command.bytes)), .texts(events.map(\.type)),
            .numbers(events.map(\.schemaVersion)), .instants(events.map(\.occurredAt)),
            .instants(events.map(\.recordedAt)), .bytes(events.map(\.payload)),
        ]
    }

    private static func accounts(_ batch: Batch) -> [PostgresValue] {
        // The version each account was decided from: that of its first event here, less one.
        var from: [AccountID: Int64] = [:]
        for event in batch.events where from[event.account] == nil {
            from[event.account] = event.version - 1
        }
        let changed = Array(batch.accounts)
        return [
            .texts(changed.map(\.key.text)),
            .numbers(changed.map { from[$0.key] ?? $0.value.version }),
            .numbers(changed.map(\.value.version)),
            .numbers(changed.map(\.value.production.paid.amount)),
            .numbers(changed.map(\.value.production.free.amount)),
            .numbers(changed.map(\.value.sandbox.paid.amount)),
            .numbers(changed.map(\.value.sandbox.free.amount)),
            .numbers(changed.map(\.value.lotCount)),
            .instants(changed.map(\.value.production.nextExpiry)),
            .instants(changed.map(\.value.sandbox.nextExpiry)),
            .bytes(changed.map { AccountDetailsCodec.encode(AccountDetails($0.value)) }),
        ]
    }

    private static func answers(_ answers: [IdempotencyKey: StoredAnswer]) -> [PostgresValue] {
        let sorted = answers.sorted { $0.key.order < $1.key.order }
        return [
            .texts(sorted.map(\.key.account.text)), .texts(sorted.map(\.key.text)),
            .bytes(sorted.map(\.value.requestSHA256)), .numbers(sorted.map(\.value.status)),
            .bytes(sorted.map(\.value.body)), .instants(sorted.map(\.value.recordedAt)),
        ]
    }
}

/// Arrays in which nothing is are sent as NULL, which the server doesn't even look at.
extension PostgresValue {
    static func numbers(_ values: [Int64]) -> PostgresValue {
        values.isEmpty ? .null : .int8Array(values)
    }

    static func numbers(_ values: [Int64?]) -> PostgresValue {
        values.allSatisfy { $0 == nil } ? .null : .nullableInt8Array(values)
    }

    static func texts(_ values: [String]) -> PostgresValue {
        values.isEmpty ? .null : .textArray(values)
    }

    static func texts(_ values: [String?]) -> PostgresValue {
        values.allSatisfy { $0 == nil } ? .null : .nullableTextArray(values)
    }

    static func bytes(_ values: [[UInt8]]) -> PostgresValue {
        values.isEmpty ? .null : .byteaArray(values)
    }

    static func bytes(_ values: [[UInt8]?]) -> PostgresValue {
        values.allSatisfy { $0 == nil } ? .null : .nullableByteaArray(values)
    }

    static func instants(_ values: [Timestamp]) -> PostgresValue {
        values.isEmpty ? .null : .timestamptzArray(milliseconds: values.map(\.milliseconds))
    }

    static func instants(_ values: [Timestamp?]) -> PostgresValue {
        values.allSatisfy { $0 == nil }
            ? .null : .nullableTimestamptzArray(milliseconds: values.map(\.?.milliseconds))
    }
}

extension IdempotencyKey {
    fileprivate var order: (String, String) { (account.text, text) }
}
