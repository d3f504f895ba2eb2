import Glibc
import Synchronization

/// A database of one test, dropped with its last reference.
package final class TestDatabase: Sendable {
    package let name: String
    /// The administrator's connection string for this database.
    package let connectionString: String

    private init(name: String) {
        self.name = name
        connectionString = TestCluster.shared.connectionString(database: name)
    }

    deinit { try? TestCluster.shared.admin("DROP DATABASE IF EXISTS \(name) WITH (FORCE)") }

    /// Makes a database with a name of its own, blocking.
    ///
    /// - Parameter template: the database it's a copy of; nobody may be connected to that.
    package static func create(
        template: String = "template0"
    ) throws(TestDatabaseError) -> TestDatabase {
        let number = lastNumber.add(1, ordering: .relaxed).newValue
        let name = "test_\(getpid())_\(number)"
        // FILE_COPY would wait for a checkpoint; WAL_LOG doesn't.
        try TestCluster.shared.admin(
            "CREATE DATABASE \(name) TEMPLATE \(template) STRATEGY wal_log")
        return TestDatabase(name: name)
    }

    /// Runs SQL as the administrator or in another role, blocking; the last statement's rows.
    @discardableResult
    package func run(
        _ sql: String, as role: String? = nil
    ) throws(TestDatabaseError) -> [[String?]] {
        let connectionString = role.map(self.connectionString(in:)) ?? connectionString
        return try BlockingConnection.run(sql, on: connectionString)
    }

    /// The administrator's connection string, for sessions that act in another role.
    package func connectionString(in role: String) -> String {
        ConnectionString.adding("options", "-c role=\(role)", to: connectionString)
    }

    /// The rows of the last statement in `sql`, as text, read by the administrator; blocking.
    package func rows(_ sql: String) throws(TestDatabaseError) -> [[String]] {
        try BlockingConnection.rows(of: sql, on: connectionString)
    }

    private static let lastNumber = Atomic<Int>(0)
}
