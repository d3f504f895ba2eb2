package import CoinLedger
package import EventStore
import Postgres

extension PostgresEventStore {
    /// Reads one row an account, and open lots only of accounts of which coins may have expired
    /// without that being recorded yet.
    package func balances(
        of ids: [AccountID], at time: Timestamp
    ) async throws(EventStoreError) -> [AccountID: AccountBalance] {
        var found = try await reading { () throws(PostgresError) -> [AccountID: Account] in
            let query = (Statements.balances, [PostgresValue.textArray(ids.map(\.text))])
            return try AccountRowsAlone(try await readers.read([query])[0]).accounts()
        }
        let others = found.filter { $0.value.isUncertain(at: time) }.map(\.key)
        if !others.isEmpty { found.merge(try await states(of: others, withLots: true)) { $1 } }
        var balances: [AccountID: AccountBalance] = [:]
        balances.reserveCapacity(found.count)
        for (id, account) in found { balances[id] = account.balance(at: time) }
        return balances
    }

    package func account(_ id: AccountID) async throws(EventStoreError) -> Account? {
        try await states(of: [id], withLots: true)[id]
    }

    package func accounts(
        in lane: Lane, after id: AccountID?, limit: Int
    ) async throws(EventStoreError) -> [(id: AccountID, account: Account)] {
        try await reading { () throws(PostgresError) -> [(id: AccountID, account: Account)] in
            let parameters: [PostgresValue] = [
                .int8(lane.number), .text(id?.text ?? ""), .int8(Int64(limit)),
            ]
            let rows = try await background.read([(Statements.laneAccounts, parameters)])[0]
            return try AccountRows(rows).accounts().map { (id: $0.key, account: $0.value) }
                .sorted { $0.id.text.utf8.lexicographicallyPrecedes($1.id.text.utf8) }
        }
    }
}
