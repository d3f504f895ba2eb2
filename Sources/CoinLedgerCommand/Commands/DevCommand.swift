import AppStore
import AppStoreConnection
import AppStoreStandIn
import Base
import CoinLedger
import CoinLedgerService
import EventLoop
import Glibc
import HTTPServer
import PrivatePostgres
import Telemetry

/// `coinledger dev`
enum DevCommand {
    static let data = Option(
        "data", "FOLDER", variable: "COINLEDGER_DATA", fallback: ".coinledger",
        help: "The folder of the database and of dev.json.")
    private static let options =
        [
            DevOptions.listen, DevOptions.storeListen, data, DevOptions.catalogue,
            ServiceOptions.ledgerPolicy,
        ]
        + [
            ServiceOptions.sandbox, ServiceOptions.sandboxAccounts, ServiceOptions.quantityMax,
            ServiceOptions.logLevel,
        ]

    static let subcommand = Subcommand(
        "dev", summary: "Runs the service with a private PostgreSQL and a stand-in App Store.",
        discussion: """
            Once ready it writes dev.json into its data folder, with the URLs and keys. Several run
            side by side with ports and folders of their own. Ctrl-C stops everything.
            """,
        options: options
    ) { settings in
        DescriptorLimit.raise()
        let signals = SignalWaiter()
        let options = try DevOptions(settings)
        let folder = try settings.required(data)
        mkdir(folder, 0o755)
        Output.print("Starting PostgreSQL in \(folder)/postgres …\n")
        let postgres = try PrivatePostgres.start(
            folder: "\(folder)/postgres", settings: postgresSettings)
        // Only now, since the folder may have been another's, who goes on.
        unlink("\(folder)/\(DevPage.fileName)")
        let loop = EventLoop()
        let result: Result<Void, any Error> = loop.run {
            do {
                try await run(options, folder, postgres, signals, loop)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        unlink("\(folder)/\(DevPage.fileName)")
        try postgres.stop()
        try result.get()
        return 0
    }

    private static let postgresSettings = [
        ("shared_buffers", "256MB"), ("max_wal_size", "4GB"), ("max_connections", "200"),
    ]

    private static func run(
        _ options: DevOptions, _ folder: String, _ postgres: PrivatePostgres,
        _ signals: SignalWaiter, _ loop: EventLoop
    ) async throws {
        Output.print("Preparing the database …\n")
        let database = try await DevDatabase.prepare(postgres, on: loop)
        let keys = try await database.makeKeys(on: loop)
        let store = StandInServer(
            store: StandInStore(now: { SystemClock.now().milliseconds }),
            port: options.storeListen.port, loop: loop, log: options.log)
        do throws(HTTPServerError) {
            try store.start()
        } catch {
            throw UsageError("can't listen for the stand-in App Store: \(error)")
        }
        let storeURL = "http://127.0.0.1:\(store.port)"
        let service = try await RunningService.start(
            try options.service(
                storeURL: storeURL, root: store.api.store.authority.rootsPEM,
                key: store.api.store.apiKey),
            database: database.service, on: loop)
        let url = options.listen.url(port: service.port)
        store.api.store.notifications.setTarget("\(url)/v1/app-store/notifications")
        let page = DevPage(
            url: url, storeURL: storeURL,
            databaseURL: database.adminURL, backendKey: keys.backend, supportKey: keys.support)
        try FileContents.replace(
            "\(folder)/\(DevPage.fileName)", with: page.json.bytes + [UInt8(ascii: "\n")])
        Output.print(page.banner)
        await signals.wait(on: loop)
        Output.print("\nStopping …\n")
        await service.stop()
        await store.drain(milliseconds: 500)
    }
}
