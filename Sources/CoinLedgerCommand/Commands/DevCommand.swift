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
    private static let listen = Option(
        "listen", "ADDRESS:PORT", variable: "COINLEDGER_LISTEN", fallback: "127.0.0.1:8080",
        help: "Where the service listens; port 0 takes any free one.")
    private static let storeListen = Option(
        "store-listen", "ADDRESS:PORT", variable: "COINLEDGER_STORE_LISTEN",
        fallback: "127.0.0.1:8090",
        help: "Where the stand-in App Store listens; the address is 127.0.0.1 always.")
    static let data = Option(
        "data", "FOLDER", variable: "COINLEDGER_DATA", fallback: ".coinledger",
        help: "The folder of the database and of dev.json.")
    private static let catalogue = Option(
        "catalogue", "FILE", variable: "COINLEDGER_CATALOGUE",
        help: "A catalogue to use in place of the demo's.")
    private static let options = [
        listen, storeListen, data, catalogue, ServiceOptions.sandbox,
        ServiceOptions.sandboxAccounts, ServiceOptions.quantityMax, ServiceOptions.logLevel,
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
        let folder = try settings.required(data)
        mkdir(folder, 0o755)
        unlink("\(folder)/\(DevPage.fileName)")
        Output.print("Starting PostgreSQL in \(folder)/postgres …\n")
        let postgres = try PrivatePostgres.start(
            folder: "\(folder)/postgres", settings: postgresSettings)
        let loop = EventLoop()
        let result: Result<Void, any Error> = loop.run {
            do {
                try await run(settings, folder, postgres, signals, loop)
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
        _ settings: Settings, _ folder: String, _ postgres: PrivatePostgres,
        _ signals: SignalWaiter, _ loop: EventLoop
    ) async throws {
        Output.print("Preparing the database …\n")
        let database = try await DevDatabase.prepare(postgres, on: loop)
        let keys = try await database.makeKeys(on: loop)
        let log = try ServiceOptions.log(settings)
        let store = StandInServer(
            store: StandInStore(now: { SystemClock.now().milliseconds }),
            port: try ListenAddress(settings, storeListen).port, loop: loop, log: log)
        do throws(HTTPServerError) {
            try store.start()
        } catch {
            throw UsageError("can't listen for the stand-in App Store: \(error)")
        }
        let storeURL = "http://127.0.0.1:\(store.port)"
        let options = try options(settings, store, storeURL, log)
        let service = try await RunningService.start(
            options, database: database.service, on: loop)
        let page = DevPage(
            url: options.listen.url(port: service.port), storeURL: storeURL,
            databaseURL: database.adminURL, backendKey: keys.backend, supportKey: keys.support)
        try FileContents.replace(
            "\(folder)/\(DevPage.fileName)", with: page.json.bytes + [UInt8(ascii: "\n")])
        Output.print(page.banner)
        await signals.wait(on: loop)
        Output.print("\nStopping …\n")
        await service.stop()
        await store.drain(milliseconds: 500)
    }

    private static func options(
        _ settings: Settings, _ store: StandInServer, _ storeURL: String, _ log: Log
    ) throws -> ServiceOptions {
        let catalogue =
            if let path = settings.optional(catalogue) {
                try ServiceOptions.catalogue(path)
            } else {
                try CatalogueFile.parse(DemoCatalogue.bytes)
            }
        var receipts = VerifyReceiptConfiguration()
        receipts.productionURL = "\(storeURL)/verifyReceipt"
        receipts.sandboxURL = "\(storeURL)/sandbox/verifyReceipt"
        return ServiceOptions(
            listen: try ListenAddress(settings, listen),
            roots: try RootCertificates(
                files: [Array(store.api.store.authority.root.pem.utf8)], allowPrivate: true),
            policy: try ServiceOptions.policy(settings, catalogue),
            receipts: receipts, log: log)
    }
}
