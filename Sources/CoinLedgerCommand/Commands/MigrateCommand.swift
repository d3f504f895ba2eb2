import CoinLedger
import EventLoop
import EventStore
import PostgresEventStore

/// `coinledger migrate`
enum MigrateCommand {
    private static let lanes = Option(
        "lanes", "N", variable: "COINLEDGER_LANES", fallback: "\(Migrator.defaultLaneCount)",
        help: "How many lanes a new ledger gets. A ledger that exists keeps its number.")

    static let subcommand = Subcommand(
        "migrate", summary: "Brings the database's schema up to date.",
        discussion: """
            Run it as a database user who may create roles. It makes the roles coinledger_owner,
            coinledger_writer and coinledger_reader; grant coinledger_writer to the user that the
            service logs in as. Several at once wait for each other.
            """,
        options: [DatabaseOptions.url, lanes]
    ) { settings in
        let laneCount = try settings.integer(lanes, in: 1...Lane.countMax)
        let configuration = try DatabaseOptions.configuration(settings)
        let loop = EventLoop()
        let result: Result<Migrator.Result, EventStoreError> = loop.run {
            do throws(EventStoreError) {
                return .success(
                    try await Migrator(configuration, on: loop).migrate(laneCount: laneCount))
            } catch {
                return .failure(error)
            }
        }
        let migrated = try result.get()
        let steps = migrated.applied.isEmpty ? "none" : migrated.applied.joined(separator: ", ")
        Output.print("applied: \(steps); lanes: \(migrated.laneCount)\n")
        return 0
    }
}
