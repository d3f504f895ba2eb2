import EventLoop
import Postgres
import TestSupport
import Testing

/// Holds the row of lane 0, so that appends wait.
final class LaneLock: Sendable {
    private let connection: PostgresConnection
    private let database: TestDatabase
    private let loop: EventLoop

    init(_ database: TestDatabase, _ loop: EventLoop) async throws {
        (self.database, self.loop) = (database, loop)
        connection = try await PostgresConnection.connect(
            PostgresConfiguration(database.connectionString), on: loop)
        try await connection.script(
            "BEGIN; SELECT 1 FROM coinledger.lanes WHERE lane = 0 FOR UPDATE")
    }

    func release() async { connection.close() }

    /// Returns when at least so many wait.
    func waitForAppends(_ count: Int) async throws {
        for _ in 0..<2_000 {
            let waiting = try database.run("SELECT count(*) >= \(count) \(LaneLock.waiting)")
            if waiting == [["t"]] { return }
            await loop.sleep(milliseconds: 2)
        }
        Issue.record("the appends were never seen to wait")
    }

    func terminateAppends() async throws {
        try database.run("SELECT pg_terminate_backend(pid, 5000) \(LaneLock.waiting)")
    }

    private static let waiting =
        """
        FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'
            AND query LIKE '%append_events%'
        """
}
