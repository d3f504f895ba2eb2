import Base
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
                folder: folder.path,
                // No test kills this server, so that nothing is lost by not waiting for the disk.
                settings: [
                    ("max_connections", "200"), ("fsync", "off"), ("full_page_writes", "off"),
                ])
            ownServer.withLock { $0 = (folder, postgres) }
            atexit(removeOwnServer)
            return TestCluster(adminURL: postgres.adminURL)
        } catch {
            preconditionFailure("tests need PostgreSQL: \(error)")
        }
    }()

    /// Runs SQL as the administrator on the database `postgres`, blocking.
    package func admin(_ sql: String) throws(TestDatabaseError) {
        _ = try BlockingConnection.run(sql, on: adminURL)
    }

    /// The server's Unix socket.
    ///
    /// - Throws: `TestDatabaseError` if it's reached in another way.
    package func socketPath() throws(TestDatabaseError) -> String {
        let fields = BlockingConnection.fields(of: adminURL)
        guard let host = fields["host"], host.hasPrefix("/") else {
            throw TestDatabaseError(sqlState: nil, description: "the server has no socket folder")
        }
        return "\(host)/.s.PGSQL.\(fields["port"] ?? "5432")"
    }

    /// The connection string for a database of the cluster; `user` nil is the administrator.
    package func connectionString(database: String, user: String? = nil) -> String {
        let string = ConnectionString.adding("dbname", database, to: adminURL)
        return user.map { ConnectionString.adding("user", $0, to: string) } ?? string
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
