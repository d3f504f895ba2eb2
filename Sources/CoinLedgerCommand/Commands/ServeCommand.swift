import EventLoop
import Postgres
import Telemetry

/// `coinledger serve`
enum ServeCommand {
    static let subcommand = Subcommand(
        "serve", summary: "Runs the service.",
        discussion: """
            The database must be migrated (coinledger migrate) and its user a member of
            coinledger_writer. SIGTERM and SIGINT finish what was accepted and exit with 0 within ten
            seconds.
            """,
        options: ServiceOptions.all
    ) { settings in
        DescriptorLimit.raise()
        let signals = SignalWaiter()
        let options = try ServiceOptions(settings)
        let database = try DatabaseOptions.configuration(settings)
        let loop = EventLoop()
        let result: Result<Void, any Error> = loop.run {
            do {
                let service = try await RunningService.start(options, database: database, on: loop)
                options.log.info(
                    "listening", ["url": options.listen.url(port: service.port)])
                await signals.wait(on: loop)
                await service.stop()
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
        return 0
    }
}
