package import CoinLedger
package import EventStore
import Postgres

extension PostgresEventStore: LotProjection {
    package func lotCheckpoint(of lane: Lane) async throws(EventStoreError) -> Int64 {
        try await reading { () throws(PostgresError) -> Int64 in
            try await background.read([(Statements.lotCheckpoint, [.int8(lane.number)])])[0]
                .int8(0, 0)
        }
    }

    package func grants(
        in lane: Lane, after position: Int64, limit: Int64
    ) async throws(EventStoreError) -> (events: [StoredEvent], through: Int64) {
        try await reading {
            () throws(PostgresError) -> (events: [StoredEvent], through: Int64) in
            let end = position + limit
            let results = try await background.read([
                (Statements.head, [.int8(lane.number)]),
                (Statements.laneGrants, [.int8(lane.number), .int8(position), .int8(end)]),
            ])
            // What was appended after the head was read is left for the next time.
            let through = max(position, min(end, try results[0].int8(0, 0)))
            var events: [StoredEvent] = []
            for row in 0..<results[1].count {
                let event = try StoredEvent(results[1], row)
                if event.id.position <= through { events.append(event) }
            }
            return (events, through)
        }
    }

    package func project(
        _ lots: [ProjectedLot], in lane: Lane, from position: Int64, to newPosition: Int64
    ) async throws(EventStoreError) {
        let keys: [PurchaseKey?] = lots.map { lot in
            switch lot.source {
            case .purchase(let key): key
            }
        }
        try await reading { () throws(PostgresError) in
            _ = try await background.execute(
                Statements.projectLots,
                [
                    .int8(lane.number), .int8(position), .int8(newPosition),
                    .textArray(lots.map(\.account.text)),
                    .int8Array(lots.map(\.lot.number)),
                    .int8Array(lots.map(\.grant.position)),
                    .textArray(lots.map(\.environment.rawValue)),
                    .textArray(lots.map(\.lot.kind.rawValue)),
                    .int8Array(lots.map(\.lot.coins.amount)),
                    .timestamptzArray(milliseconds: lots.map(\.grantedAt.milliseconds)),
                    .nullableTimestamptzArray(
                        milliseconds: lots.map(\.lot.expiresAt?.milliseconds)),
                    .nullableTextArray(keys.map(\.?.store.rawValue)),
                    .nullableTextArray(keys.map(\.?.transactionID.text)),
                ])
        }
    }

    package func lots(
        in lane: Lane, after last: (account: AccountID, number: Int64)?, limit: Int
    ) async throws(EventStoreError) -> [ProjectedLot] {
        try await reading { () throws(PostgresError) -> [ProjectedLot] in
            let parameters: [PostgresValue] = [
                .int8(lane.number), .text(last?.account.text ?? ""), .int8(last?.number ?? 0),
                .int8(Int64(limit)),
            ]
            let rows = try await background.read([(Statements.lots, parameters)])[0]
            var lots: [ProjectedLot] = []
            for row in 0..<rows.count { lots.append(try ProjectedLot(rows, row, lane)) }
            return lots
        }
    }
}

extension ProjectedLot {
    fileprivate init(_ rows: PostgresRows, _ row: Int, _ lane: Lane) throws(PostgresError) {
        let environment = try rows.value(row, 3, Environment.init(rawValue:))
        let lot = Lot(
            number: try rows.int8(row, 1),
            kind: try rows.value(row, 4, Lot.Kind.init(rawValue:)),
            coins: try rows.coins(row, 5), expiresAt: try rows.optionalInstant(row, 8))
        let key = PurchaseKey(
            store: try rows.value(row, 9, Store.init(rawValue:)), environment: environment,
            transactionID: try rows.value(row, 10, TransactionID.init))
        self.init(
            account: try rows.value(row, 0, AccountID.init), lot: lot,
            remaining: try rows.coins(row, 6), environment: environment,
            source: .purchase(key),
            grant: EventID(lane: lane, position: try rows.int8(row, 2)),
            grantedAt: try rows.instant(row, 7))
    }
}
