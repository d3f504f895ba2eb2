import Base
import CPostgres
import Glibc
import PrivatePostgres

/// The PostgreSQL of a whole test process.
///
/// It's the one named by `COINLEDGER_TEST_POSTGRES` (a connection string of a superuser) or else
/// a private one in a temporary folder, started at first use and removed at exit.
package final class TestCluster: Sendable {
    /// The administrator's connection string.
    package let adminURL: String

    private init(adminURL: String) { self.adminURL = adminURL }

    /// Blocks for a second or two at first use, if the server has to be made.
    package static let shared: TestCluster = {
        if let given = unsafe getenv("COINLEDGER_TEST_POSTGRES") {
            return TestCluster(adminURL: String(cString: given))
        }
        do {
            let folder = try TemporaryFolder()
            let postgres = try PrivatePostgres.start(
                folder: folder.path, settings: [("max_connections", "200")])
            ownServer.withLock { $0 = (folder, postgres) }
            atexit(removeOwnServer)
            return TestCluster(adminURL: postgres.adminURL)
        } catch {
            preconditionFailure("tests need PostgreSQL: \(error)")
        }
    }()

    /// Runs SQL as the administrator on the database `postgres`, blocking.
    package func admin(_ sql: String) throws(TestDatabaseError) {
        _ = try BlockingConnection.rows(of: sql, on: adminURL)
    }

    /// The connection string for a database of the cluster; `user` nil is the administrator.
    package func connectionString(database: String, user: String? = nil) -> String {
        // libpq takes the last of repeated fields.
        var fields = ["dbname=\(database)"]
        if let user { fields.append("user=\(user)") }
        guard adminURL.contains("://") else {
            return ([adminURL] + fields).joined(separator: " ")
        }
        return adminURL + (adminURL.contains("?") ? "&" : "?") + fields.joined(separator: "&")
    }
}

private let ownServer = Lock<(TemporaryFolder, PrivatePostgres)?>(nil)

private func removeOwnServer() {
    let own = ownServer.withLock { own in
        defer { own = nil }
        return own
    }
    try? own?.1.stop()
    own?.0.remove()
}

/// What libpq said when it was asked by a test.
package struct TestDatabaseError: Error, CustomStringConvertible {
    package let description: String
}

/// A connection for one script.
package enum BlockingConnection {
    /// Runs `sql` and returns the rows of its last statement as text; null is empty.
    @discardableResult
    package static func rows(
        of sql: String, on connectionString: String
    ) throws(TestDatabaseError) -> [[String]] {
        let connection = PQconnectdb(connectionString)
        defer { PQfinish(connection) }
        guard PQstatus(connection) == CONNECTION_OK else {
            throw TestDatabaseError(description: String(cString: PQerrorMessage(connection)))
        }
        let result = PQexec(connection, sql)
        defer { PQclear(result) }
        let status = PQresultStatus(result)
        guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else {
            throw TestDatabaseError(description: String(cString: PQerrorMessage(connection)))
        }
        return (0..<PQntuples(result)).map { row in
            (0..<PQnfields(result)).map { String(cString: PQgetvalue(result, row, $0)) }
        }
    }
}

/// A connection that stays open, for transactions that others run into.
package final class BlockingSession {
    private let connection: OpaquePointer?

    package init(_ connectionString: String) throws(TestDatabaseError) {
        connection = PQconnectdb(connectionString)
        guard PQstatus(connection) == CONNECTION_OK else {
            throw TestDatabaseError(description: String(cString: PQerrorMessage(connection)))
        }
    }

    deinit { PQfinish(connection) }

    /// Runs one command, blocking.
    package func run(_ sql: String) throws(TestDatabaseError) {
        let result = PQexec(connection, sql)
        defer { PQclear(result) }
        let status = PQresultStatus(result)
        guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else {
            throw TestDatabaseError(description: String(cString: PQerrorMessage(connection)))
        }
    }
}
