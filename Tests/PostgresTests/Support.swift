import EventLoop
import Postgres
import TestSupport

/// Runs `body` with a connection to `database`, or to the administrator's, and closes it.
func withConnection<Value: Sendable>(
    to database: TestDatabase? = nil,
    _ change: @escaping @Sendable (inout PostgresConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (PostgresConnection) async throws -> Value
) async throws -> Value {
    var configuration = try PostgresConfiguration(
        database?.connectionString ?? TestCluster.shared.adminURL)
    change(&configuration)
    let changed = configuration
    return try await onLoop { loop in
        let connection = try await PostgresConnection.connect(changed, on: loop)
        defer { connection.close() }
        return try await body(connection)
    }
}

/// What an operation threw, or nil.
func failure(
    _ body: () async throws(PostgresError) -> Void
) async -> PostgresError? {
    do throws(PostgresError) {
        try await body()
        return nil
    } catch {
        return error
    }
}

let one = PostgresStatement("one", "SELECT 1::bigint")
let same = PostgresStatement("same", "SELECT $1::bigint")
let sleep = PostgresStatement("sleep", "SELECT pg_sleep(30)")
let divide = PostgresStatement("divide", "SELECT 1 / $1::bigint")
