import AppStore
import AppStoreConnection
import AppStoreStandIn
import CoinLedgerService
import Telemetry

/// Everything that `coinledger dev` can be told but its folder, checked before anything is started.
struct DevOptions: Sendable {
    let listen: ListenAddress
    let storeListen: ListenAddress
    let log: Log
    private let policy: PurchasePolicy
    private let rules: CommandRules

    static let listen = Option(
        "listen", "ADDRESS:PORT", variable: "COINLEDGER_LISTEN", fallback: "127.0.0.1:8080",
        help: "Where the service listens; port 0 takes any free one.")
    static let storeListen = Option(
        "store-listen", "ADDRESS:PORT", variable: "COINLEDGER_STORE_LISTEN",
        fallback: "127.0.0.1:8090",
        help: "Where the stand-in App Store listens; the address is 127.0.0.1 always.")
    static let catalogue = Option(
        "catalogue", "FILE", variable: "COINLEDGER_CATALOGUE",
        help: "A catalogue to use in place of the demo's.")
    init(_ settings: Settings) throws {
        listen = try ListenAddress(settings, DevOptions.listen)
        storeListen = try ListenAddress(settings, DevOptions.storeListen)
        log = try ServiceOptions.log(settings)
        let catalogue =
            if let path = settings.optional(DevOptions.catalogue) {
                try ServiceOptions.catalogue(path)
            } else {
                try CatalogueFile.parse(DemoCatalogue.bytes)
            }
        rules = CommandRules(
            catalogue: catalogue, policy: try ServiceOptions.ledgerPolicy(settings))
        policy = try ServiceOptions.policy(settings, rules)
    }

    /// What the service is told, once the stand-in store runs.
    func service(
        storeURL: String, root: String, key: StandInAPIKey
    ) throws -> ServiceOptions {
        var receipts = VerifyReceiptConfiguration()
        receipts.productionURL = "\(storeURL)/verifyReceipt"
        receipts.sandboxURL = "\(storeURL)/sandbox/verifyReceipt"
        var api = AppStoreServerConfiguration(
            key: try AppStoreServerKey(pem: Array(key.key.pem.utf8)), keyID: key.keyID,
            issuerID: key.issuerID, bundleID: key.bundleID)
        api.productionURL = storeURL
        api.sandboxURL = "\(storeURL)/sandbox"
        return ServiceOptions(
            listen: listen,
            roots: try RootCertificates(files: [Array(root.utf8)], allowPrivate: true),
            policy: policy, rules: rules, receipts: receipts, storeAPI: api, log: log)
    }
}
