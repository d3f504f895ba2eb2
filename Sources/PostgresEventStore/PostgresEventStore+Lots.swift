package import CoinLedger
package import EventStore
import Postgres

extension PostgresEventStore {
    package func lots(
        of account: AccountID, after number: Int64, limit: Int, openOnly: Bool
    ) async throws(EventStoreError) -> [StoredLot] {
        try await lots(
            readers, openOnly ? Statements.openAccountLots : Statements.accountLots,
            [.text(account.text), .int8(number), .int8(Int64(limit))],
            after: LotID(account: account, number: number), limit)
    }

    package func lots(
        in lane: Lane, after last: LotID?, limit: Int
    ) async throws(EventStoreError) -> [StoredLot] {
        try await lots(
            background, Statements.laneLots,
            [
                .int8(lane.number), .text(last?.account.text ?? ""), .int8(last?.number ?? 0),
                .int8(Int64(limit)),
            ], after: last, limit)
    }

    private func lots(
        _ client: PostgresClient, _ statement: PostgresStatement, _ parameters: [PostgresValue],
        after last: LotID?, _ limit: Int
    ) async throws(EventStoreError) -> [StoredLot] {
        let page = try await reading { () throws(PostgresError) -> [LotRows.KeptLot] in
            let rows = LotRows(try await client.read([(statement, parameters)])[0])
            return try rows.page(after: last, limit: limit)
        }
        return try await stored(page, client)
    }

    /// The same with where they came from, which their events say, and which never changes.
    private func stored(
        _ lots: [LotRows.KeptLot], _ client: PostgresClient
    ) async throws(EventStoreError) -> [StoredLot] {
        let grants = Array(Set(lots.map(\.grant)))
        guard !grants.isEmpty else { return [] }
        let events = try await reading { () throws(PostgresError) -> [EventID: StoredEvent] in
            let parameters: [PostgresValue] = [
                .int8Array(grants.map(\.lane.number)), .int8Array(grants.map(\.position)),
            ]
            let rows = try await client.read([(Statements.grants, parameters)])[0]
            var events: [EventID: StoredEvent] = [:]
            for row in 0..<rows.count {
                let event = try StoredEvent(rows, row)
                events[event.id] = event
            }
            return events
        }
        return try lots.map { (lot) throws(EventStoreError) in
            guard let event = events[lot.grant], let opened = try event.decoded().opened else {
                throw .corrupt("event \(lot.grant) didn't open lot \(lot.id.number)")
            }
            return lot.from(opened.source, at: event.recordedAt)
        }
    }

    package func accountsWithExpiredLots(
        in lane: Lane, at time: Timestamp, limit: Int
    ) async throws(EventStoreError) -> [AccountID] {
        try await reading { () throws(PostgresError) -> [AccountID] in
            let parameters: [PostgresValue] = [
                .int8(lane.number), .timestamptz(milliseconds: time.milliseconds),
                .int8(Int64(limit)),
            ]
            let rows = try await background.read([(Statements.expiredAccounts, parameters)])[0]
            var accounts: [AccountID] = []
            for row in 0..<rows.count { accounts.append(try rows.account(row, 0)) }
            return accounts
        }
    }
}
