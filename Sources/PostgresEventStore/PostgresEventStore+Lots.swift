package import CoinLedger
package import EventStore
import Postgres

extension PostgresEventStore {
    package func lots(
        of account: AccountID, after number: Int64, limit: Int, openOnly: Bool
    ) async throws(EventStoreError) -> [StoredLot] {
        try await lots(
            readers, openOnly ? Statements.openAccountLots : Statements.accountLots,
            [.text(account.text), .int8(number), .int8(Int64(limit))])
    }

    package func lots(
        in lane: Lane, after last: LotID?, limit: Int
    ) async throws(EventStoreError) -> [StoredLot] {
        try await lots(
            background, Statements.laneLots,
            [
                .int8(lane.number), .text(last?.account.text ?? ""), .int8(last?.number ?? 0),
                .int8(Int64(limit)),
            ])
    }

    private func lots(
        _ client: PostgresClient, _ statement: PostgresStatement, _ parameters: [PostgresValue]
    ) async throws(EventStoreError) -> [StoredLot] {
        try await reading { () throws(PostgresError) -> [StoredLot] in
            let rows = try await client.read([(statement, parameters)])[0]
            var lots: [StoredLot] = []
            lots.reserveCapacity(rows.count)
            for row in 0..<rows.count { lots.append(try StoredLot(rows, row)) }
            return lots
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
            let rows = try await background.read([(Statements.expiredLots, parameters)])[0]
            var accounts: [AccountID] = []
            var known: Set<AccountID> = []
            for row in 0..<rows.count {
                let account = try rows.account(row, 0)
                if known.insert(account).inserted { accounts.append(account) }
            }
            return accounts
        }
    }
}
