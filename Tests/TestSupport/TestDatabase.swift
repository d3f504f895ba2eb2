import Glibc
import Synchronization

/// A database of one test, dropped with its last reference.
package final class TestDatabase: Sendable {
    package let name: String
    /// The administrator's connection string for this database.
    package let connectionString: String

    private init(name: String) {
        self.name = name
        // libpq takes the last of repeated fields.
        connectionString = TestCluster.shared.adminURL + " dbname=\(name)"
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
        connectionString + " options='-c role=\(role)'"
    }

    private static let lastNumber = Atomic<Int>(0)
}
