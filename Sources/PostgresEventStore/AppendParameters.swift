import CoinLedger
import EventStore
import Postgres

/// A batch as the arguments of `append_events`.
struct AppendParameters {
    static let count = 25
    let values: [PostgresValue]

    init(_ batch: Batch) {
        values =
            [.int8(batch.lane.number), .int8(batch.expectedHead)]
            + AppendParameters.events(batch.events) + AppendParameters.accounts(batch)
            + AppendParameters.claims(batch.claims) + AppendParameters.tokens(batch.tokenOwners)
    }

    private static func events(_ events: [StoredEvent]) -> [PostgresValue] {
        [
            .textArray(events.map(\.account.text)),
            .int8Array(events.map(\.version)),
            .byteaArray(events.map(\.command.bytes)),
            .textArray(events.map(\.type)),
            .int8Array(events.map(\.schemaVersion)),
            .timestamptzArray(milliseconds: events.map(\.occurredAt.milliseconds)),
            .timestamptzArray(milliseconds: events.map(\.recordedAt.milliseconds)),
            .byteaArray(events.map(\.payload)),
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
            .textArray(changed.map(\.key.text)),
            .int8Array(changed.map { from[$0.key] ?? $0.value.version }),
            .int8Array(changed.map(\.value.version)),
            .int8Array(changed.map(\.value.production.paid.amount)),
            .int8Array(changed.map(\.value.production.free.amount)),
            .int8Array(changed.map(\.value.sandbox.paid.amount)),
            .int8Array(changed.map(\.value.sandbox.free.amount)),
            .int8Array(changed.map(\.value.lotCount)),
        ]
    }

    /// Sorted, so that two lanes that claim the same purchases wait for each other in one order.
    private static func claims(_ claims: [PurchaseKey: PurchaseClaim]) -> [PostgresValue] {
        let sorted = claims.sorted { $0.key.order < $1.key.order }
        return [
            .textArray(sorted.map(\.key.transactionID.text)),
            .textArray(sorted.map(\.key.environment.rawValue)),
            .textArray(sorted.map(\.key.store.rawValue)),
            .textArray(sorted.map(\.value.account.text)),
            .int8Array(sorted.map(\.value.grant.position)),
        ]
    }

    private static func tokens(_ owners: [AppAccountToken: AccountID]) -> [PostgresValue] {
        let sorted = owners.sorted { $0.key.text < $1.key.text }
        return [
            .textArray(sorted.map(\.key.text)), .textArray(sorted.map(\.value.text)),
        ]
    }
}

extension PurchaseKey {
    fileprivate var order: (String, String, String) {
        (transactionID.text, environment.rawValue, store.rawValue)
    }
}

extension CommandID {
    /// Its 16 bytes, the highest first.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        for half in [high, low] {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: half >> UInt64(shift)))
            }
        }
        return bytes
    }

    init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        func number(_ part: ArraySlice<UInt8>) -> UInt64 {
            part.reduce(0) { $0 << 8 | UInt64($1) }
        }
        self.init(high: number(bytes[..<8]), low: number(bytes[8...]))
    }
}
