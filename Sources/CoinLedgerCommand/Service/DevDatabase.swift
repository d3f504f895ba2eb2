import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import Glibc
import Postgres
import PostgresEventStore
import PrivatePostgres
import Telemetry

/// The private database of `coinledger dev`: made, migrated, and with keys to use.
struct DevDatabase: Sendable {
    let adminURL: String
    let service: PostgresConfiguration

    private static let name = "coinledger"
    private static let serviceRole = "coinledger_service"
    private static let keyNames = ["dev backend", "dev support"]

    static func prepare(_ postgres: PrivatePostgres, on loop: EventLoop) async throws -> DevDatabase
    {
        try await createDatabase(postgres, on: loop)
        let adminURL = postgres.connectionString(database: name)
        let admin = try PostgresConfiguration(adminURL)
        let migrator = Migrator(admin, on: loop)
        _ = try await migrator.migrate(laneCount: Migrator.defaultLaneCount)
        let connection = try await PostgresConnection.connect(admin, on: loop)
        defer { connection.close() }
        try await connection.script(
            """
            DO $$
            BEGIN
                IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '\(serviceRole)') THEN
                    CREATE ROLE \(serviceRole) LOGIN IN ROLE coinledger_writer;
                END IF;
            END;
            $$
            """)
        return DevDatabase(
            adminURL: adminURL,
            service: try PostgresConfiguration(
                postgres.connectionString(database: name, user: serviceRole)))
    }

    private static func createDatabase(
        _ postgres: PrivatePostgres, on loop: EventLoop
    ) async throws {
        let configuration = try PostgresConfiguration(postgres.adminURL)
        let connection = try await PostgresConnection.connect(configuration, on: loop)
        defer { connection.close() }
        let rows = try await connection.execute(
            PostgresStatement(
                "databases", "SELECT count(*) FROM pg_database WHERE datname = '\(name)'"))
        if try rows.int8(0, 0) == 0 { try await connection.script("CREATE DATABASE \(name)") }
    }

    /// Makes the keys of this run, and revokes those of earlier ones.
    func makeKeys(on loop: EventLoop) async throws -> (backend: String, support: String) {
        let store = try await PostgresEventStore.open(service, on: loop, log: .none)
        defer { store.close() }
        let now = SystemClock.now()
        for key in try await store.apiKeys()
        where DevDatabase.keyNames.contains(key.name) && key.revokedAt == nil {
            _ = try await store.revokeAPIKey(key.id, at: now)
        }
        let backend = APIKeyText.make(
            name: DevDatabase.keyNames[0],
            scopes: [.purchases, .read, .grants, .spends, .rawSpends, .store], at: now)
        let support = APIKeyText.make(
            name: DevDatabase.keyNames[1], scopes: [.read, .support], at: now)
        try await store.create(backend.key)
        try await store.create(support.key)
        return (backend.text, support.text)
    }
}
