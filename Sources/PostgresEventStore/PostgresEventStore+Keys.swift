package import CoinLedger
package import EventStore
import Postgres

extension PostgresEventStore: APIKeyStore {
    package func apiKeys() async throws(EventStoreError) -> [APIKey] {
        try await reading { () throws(PostgresError) -> [APIKey] in
            let rows = try await readers.read([(Statements.apiKeys, [])])[0]
            var keys: [APIKey] = []
            for row in 0..<rows.count {
                keys.append(
                    APIKey(
                        id: try rows.text(row, 0), name: try rows.text(row, 1),
                        scopes: try rows.text(row, 2).split(separator: ",").map(String.init),
                        secretSHA256: try rows.bytes(row, 3),
                        createdAt: try rows.instant(row, 4),
                        revokedAt: try rows.optionalInstant(row, 5)))
            }
            return keys
        }
    }

    package func create(_ key: APIKey) async throws(EventStoreError) {
        try await reading { () throws(PostgresError) in
            _ = try await readers.execute(
                Statements.createAPIKey,
                [
                    .text(key.id), .text(key.name), .text(key.scopes.joined(separator: ",")),
                    .bytea(key.secretSHA256),
                    .timestamptz(milliseconds: key.createdAt.milliseconds),
                ])
        }
    }

    package func revokeAPIKey(
        _ id: String, at time: Timestamp
    ) async throws(EventStoreError) -> Bool {
        try await reading { () throws(PostgresError) -> Bool in
            try await readers.execute(
                Statements.revokeAPIKey,
                [.text(id), .timestamptz(milliseconds: time.milliseconds)]
            ).bool(0, 0)
        }
    }
}
