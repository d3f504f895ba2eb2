import Base
import EventLoop
import EventStore
import Glibc
import Postgres
import PostgresEventStore

extension TestDatabase {
    /// How many lanes the ledger of `ledger()` has.
    package static let ledgerLaneCount: Int64 = 2

    /// Makes a database with an empty ledger, blocking.
    ///
    /// It's a copy of one that is migrated once in a process.
    package static func ledger() throws -> TestDatabase {
        try create(template: migratedTemplate.get())
    }
}

private let migratedTemplate = Result { try makeMigratedTemplate() }

private func makeMigratedTemplate() throws -> String {
    let name = "test_template_\(getpid())"
    let cluster = TestCluster.shared
    try cluster.admin("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
    try cluster.admin("CREATE DATABASE \(name) TEMPLATE template0 STRATEGY wal_log")
    atexit(dropMigratedTemplate)
    let configuration = try PostgresConfiguration(cluster.connectionString(database: name))
    let loop = EventLoop()
    let migrated: Result<Migrator.Result, EventStoreError> = loop.run {
        do throws(EventStoreError) {
            let migrator = Migrator(configuration, on: loop)
            return .success(try await migrator.migrate(laneCount: TestDatabase.ledgerLaneCount))
        } catch {
            return .failure(error)
        }
    }
    _ = try migrated.get()
    return name
}

/// In a cluster of this process's own, it goes with the cluster.
private func dropMigratedTemplate() {
    guard unsafe getenv("COINLEDGER_TEST_POSTGRES") != nil else { return }
    try? TestCluster.shared.admin("DROP DATABASE IF EXISTS test_template_\(getpid())")
}
