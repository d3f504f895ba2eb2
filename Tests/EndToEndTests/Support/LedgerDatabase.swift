import PrivatePostgres
import TestSupport

/// Keys of the API that every test database knows.
struct APIKeys: Sendable {
    /// May post purchases and read.
    let backend: String
    let reader: String
    let support: String
    /// May do whatever can be done.
    let everything: String
}

/// A migrated database of one test's own, and how the service logs in to it.
struct LedgerDatabase: Sendable {
    let adminURL: String
    let serviceURL: String
    let keys: APIKeys
    /// What the database lives as long as.
    private let owner: any Sendable

    static let serviceRole = "coinledger_service"

    /// One of the cluster that all tests share.
    static func create() throws -> LedgerDatabase {
        let template = try LedgerTemplate.shared.get()
        let database = try TestDatabase.create(template: template.database.name)
        return LedgerDatabase(
            adminURL: database.connectionString,
            serviceURL: TestCluster.shared.connectionString(
                database: database.name, user: serviceRole),
            keys: template.keys, owner: database)
    }

    /// One in a PostgreSQL that may be killed.
    static func create(in postgres: PrivatePostgres) throws -> LedgerDatabase {
        try BlockingConnection.rows(of: "CREATE DATABASE ledger", on: postgres.adminURL)
        let adminURL = postgres.connectionString(database: "ledger")
        return LedgerDatabase(
            adminURL: adminURL,
            serviceURL: postgres.connectionString(database: "ledger", user: serviceRole),
            keys: try prepareLedger(adminURL), owner: postgres)
    }

    /// Makes the role that services log in as, if the cluster doesn't have it yet.
    static let serviceRoleScript = """
        DO $$
        BEGIN
            CREATE ROLE \(serviceRole) LOGIN IN ROLE coinledger_writer;
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN NULL;
        END;
        $$
        """

    func rows(_ sql: String) throws -> [[String]] {
        try BlockingConnection.rows(of: sql, on: adminURL)
    }

    /// The one number that `sql` selects.
    func count(_ sql: String) throws -> Int { Int(try rows(sql).first?.first ?? "") ?? -1 }

    /// The ids of all transactions that were granted.
    func grantedTransactions() throws -> Set<String> {
        Set(try rows("SELECT transaction_id FROM coinledger.purchases").map { $0[0] })
    }

    /// Ends every session of a service.
    func endSessions() throws {
        _ = try rows(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND usename = '\(LedgerDatabase.serviceRole)'
            """)
    }
}

/// What every test database is a copy of.
private struct LedgerTemplate: Sendable {
    let database: TestDatabase
    let keys: APIKeys

    static let shared = Result { try make() }

    private static func make() throws -> LedgerTemplate {
        let database = try TestDatabase.create()
        let keys = try prepareLedger(database.connectionString)
        return LedgerTemplate(database: database, keys: keys)
    }
}

/// Migrates a database and makes its keys, with the program itself.
func prepareLedger(_ adminURL: String) throws -> APIKeys {
    let environment = ["COINLEDGER_DATABASE_URL": adminURL]
    func run(_ arguments: [String]) throws -> String {
        let run = try Program.run(arguments, environment: environment)
        guard run.exit == .code(0) else {
            throw ServiceProcess.NotStarted(description: "\(arguments): \(run.output)")
        }
        return String(run.output.prefix { $0 != "\n" })
    }
    func key(_ name: String, _ scopes: String) throws -> String {
        try run(["keys", "create", "--name", name, "--scopes", scopes])
    }
    let scopes = "purchases,read,grants,spends,spends:raw,support,store"
    _ = try run(["migrate", "--lanes", "4"])
    try BlockingConnection.rows(of: LedgerDatabase.serviceRoleScript, on: adminURL)
    return APIKeys(
        backend: try key("backend", "purchases,read"), reader: try key("reader", "read"),
        support: try key("support", "support"),
        everything: try key("everything", scopes))
}
