package import CoinLedger
package import EventStore
import Postgres

extension PostgresEventStore {
    package func event(_ id: EventID) async throws(EventStoreError) -> StoredEvent? {
        try await events(
            readers, Statements.event, [.int8(id.lane.number), .int8(id.position)]
        ).first
    }

    package func order(_ id: OrderID) async throws(EventStoreError) -> StoredEvent? {
        try await events(readers, Statements.orderEvent, [.text(id.text)]).first
    }

    package func events(
        of account: AccountID, after version: Int64, limit: Int, where filter: EventFilter
    ) async throws(EventStoreError) -> [StoredEvent] {
        let lane = Lane.of(account, count: laneCount)
        var parameters: [PostgresValue] = [
            .text(account.text), .int8(lane.number), .int8(version), .int8(Int64(limit)),
        ]
        if filter == .all {
            return try await events(readers, Statements.accountEvents, parameters)
        }
        func instant(_ time: Timestamp?) -> PostgresValue {
            time.map { .timestamptz(milliseconds: $0.milliseconds) } ?? .null
        }
        parameters += [
            filter.types.map { .textArray($0) } ?? .null, instant(filter.from),
            instant(filter.until),
        ]
        return try await events(readers, Statements.filteredAccountEvents, parameters)
    }

    package func events(
        in lane: Lane, after position: Int64, limit: Int
    ) async throws(EventStoreError) -> [StoredEvent] {
        try await events(
            background, Statements.laneEvents,
            [.int8(lane.number), .int8(position), .int8(Int64(limit))])
    }

    private func events(
        _ client: PostgresClient, _ statement: PostgresStatement, _ parameters: [PostgresValue]
    ) async throws(EventStoreError) -> [StoredEvent] {
        try await reading { () throws(PostgresError) -> [StoredEvent] in
            let rows = try await client.read([(statement, parameters)])[0]
            var events: [StoredEvent] = []
            events.reserveCapacity(rows.count)
            for row in 0..<rows.count { events.append(try StoredEvent(rows, row)) }
            return events
        }
    }
}
