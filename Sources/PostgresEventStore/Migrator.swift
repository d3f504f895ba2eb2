package import EventLoop
package import EventStore
import LedgerSchema
package import Postgres

/// Brings a database's schema up to date: forward only, each step once, checked by its SHA-256.
///
/// An advisory lock lets one instance at a time through, so that several may start at once.
package struct Migrator: Sendable {
    private let configuration: PostgresConfiguration
    private let loop: EventLoop

    /// Lanes of a new ledger, unless asked otherwise: while one commits, the other decides. More make
    /// smaller batches, which cost more each.
    package static let defaultLaneCount: Int64 = 2
    /// The lock's key: "coinledg" in ASCII.
    private static let lockKey = "7164779742553990247"

    /// - Parameter configuration: logs in as one who may create roles and the schema.
    package init(_ configuration: PostgresConfiguration, on loop: EventLoop) {
        var configuration = configuration
        configuration.statementTimeoutMilliseconds = nil
        configuration.answerTimeoutMilliseconds = 600_000
        self.configuration = configuration
        self.loop = loop
    }

    package struct Result: Sendable {
        /// The names of the steps that were taken now.
        package let applied: [String]
        package let laneCount: Int64
    }

    /// - Parameter laneCount: for a ledger that is new, 1 to 1024; one that exists keeps its number.
    /// - Throws: `.corrupt` if a step that was taken before has another checksum now.
    package func migrate(laneCount: Int64) async throws(EventStoreError) -> Result {
        try await reading { () throws(PostgresError) -> Result in
            let connection = try await PostgresConnection.connect(configuration, on: loop)
            defer { connection.close() }
            try await connection.script("SELECT pg_advisory_lock(\(Migrator.lockKey))")
            try await connection.script(Migrator.preparation)
            let known = try await checksums(connection)
            var applied: [String] = []
            for migration in LedgerSchema.migrations {
                let checksum = try await sha256(migration.script, connection)
                if let taken = known[migration.number] {
                    guard taken == checksum else {
                        throw .protocolViolation(
                            "migration \(migration.number) was edited after it had been taken")
                    }
                    continue
                }
                try await apply(migration, checksum, connection)
                applied.append(migration.name)
            }
            let rows = try await connection.execute(
                PostgresStatement("create_lanes", "SELECT coinledger.create_lanes($1)"),
                [.int8(laneCount)])
            return Result(applied: applied, laneCount: try rows.int8(0, 0))
        }
    }

    private static let preparation = """
        CREATE SCHEMA IF NOT EXISTS coinledger;
        CREATE TABLE IF NOT EXISTS coinledger.schema_migrations (
            number bigint NOT NULL,
            name text NOT NULL,
            sha256 text NOT NULL,
            applied_at timestamptz NOT NULL DEFAULT now(),
            CONSTRAINT schema_migrations_are_distinct PRIMARY KEY (number)
        );
        """

    private func checksums(
        _ connection: PostgresConnection
    ) async throws(PostgresError) -> [Int64: String] {
        let rows = try await connection.execute(
            PostgresStatement(
                "schema_migrations", "SELECT number, sha256 FROM coinledger.schema_migrations"))
        var checksums: [Int64: String] = [:]
        for row in 0..<rows.count {
            checksums[try rows.int8(row, 0)] = try rows.text(row, 1)
        }
        return checksums
    }

    private func sha256(
        _ script: [UInt8], _ connection: PostgresConnection
    ) async throws(PostgresError) -> String {
        let statement = PostgresStatement("sha256", "SELECT encode(sha256($1), 'hex')")
        return try await connection.execute(statement, [.bytea(script)]).text(0, 0)
    }

    private func apply(
        _ migration: LedgerSchema.Migration, _ checksum: String, _ connection: PostgresConnection
    ) async throws(PostgresError) {
        let script = String(decoding: migration.script, as: UTF8.self)
        try await connection.script(
            """
            BEGIN;
            \(script)
            INSERT INTO coinledger.schema_migrations (number, name, sha256)
            VALUES (\(migration.number), '\(migration.name)', '\(checksum)');
            COMMIT;
            """)
    }
}
