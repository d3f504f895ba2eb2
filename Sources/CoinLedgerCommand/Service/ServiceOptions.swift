import AppStore
import AppStoreConnection
import CoinLedger
import CoinLedgerService
import Glibc
import Telemetry

/// Everything that `coinledger serve` can be told, as values.
struct ServiceOptions: Sendable {
    let listen: ListenAddress
    let roots: RootCertificates
    let policy: PurchasePolicy
    let rules: CommandRules
    /// How long the answers to idempotency keys are kept.
    let answerDays: Int64
    /// How long posts that granted nothing are kept.
    let attemptDays: Int64
    /// Whether their receipts are kept, too.
    let keepsRejectedReceipts: Bool
    /// How long notifications are kept after they were done.
    let notificationDays: Int64
    /// The apps' numbers in the store; empty for any.
    let appIDs: Set<Int64>
    let refundPreference: ConsumptionInformation.RefundPreference?
    let receiptMode: ReceiptVerification.Mode
    let revocation: RevocationConfiguration
    let receipts: VerifyReceiptConfiguration
    /// Nil without a key for it.
    let storeAPI: AppStoreServerConfiguration?
    let log: Log
    let verificationThreads: Int
    let httpLoops: Int

    static let listen = Option(
        "listen", "ADDRESS:PORT", variable: "COINLEDGER_LISTEN", fallback: "127.0.0.1:8080",
        help: "Where to listen for HTTP. TLS ends at a proxy in front.")
    static let catalogue = Option(
        "catalogue", "FILE", variable: "COINLEDGER_CATALOGUE",
        help: "The JSON file that says what products are worth; see docs/catalogue.md.")
    static let ledgerPolicy = Option(
        "policy", "FILE", variable: "COINLEDGER_POLICY",
        help: "The JSON file that says which coins are spent first, when free ones expire and what "
            + "refunds do; see docs/policy.md. Without it the defaults there apply.")
    static let answerDays = Option(
        "idempotency-days", "N", variable: "COINLEDGER_IDEMPOTENCY_DAYS", fallback: "30",
        help: "For how many days a repeated idempotency key gets its first answer; at least 30.")
    static let attemptDays = Option(
        "attempt-days", "N", variable: "COINLEDGER_ATTEMPT_DAYS", fallback: "400",
        help: "For how many days the support desk finds posts that granted nothing.")
    static let keepRejectedReceipts = Option(
        "keep-rejected-receipts", variable: "COINLEDGER_KEEP_REJECTED_RECEIPTS",
        help:
            "Keeps the receipts of such posts, too, and not their hashes alone. They tell much of "
            + "what a customer has bought.")
    static let notificationDays = Option(
        "notification-days", "N", variable: "COINLEDGER_NOTIFICATION_DAYS", fallback: "400",
        help:
            "For how many days notifications of the store are kept after they were done; at least "
            + "30.")
    static let appIDs = Option(
        "app-store-app-id", "N", variable: "COINLEDGER_APP_STORE_APP_IDS", isRepeatable: true,
        help:
            "The number of an app in the App Store; may be repeated (in the variable, with colons "
            + "between). Notifications of other apps are ignored. Without it the bundle id decides."
    )
    static let refundPreference = Option(
        "refund-preference", "PREFERENCE", variable: "COINLEDGER_REFUND_PREFERENCE",
        fallback: "none",
        help: "What the store is told that we would like when a customer asks for a refund: none, "
            + "decline, grant-full, or grant-prorated (by what was used).")
    static let roots = Option(
        "app-store-root", "FILE", variable: "COINLEDGER_APP_STORE_ROOTS", isRepeatable: true,
        help: "A root certificate of Apple's, DER or PEM; may be repeated (in the variable, with "
            + "colons between). The README says where to get them.")
    static let allowPrivateRoot = Option(
        "allow-private-root", variable: "COINLEDGER_ALLOW_PRIVATE_ROOT",
        help: "Takes roots that aren't Apple's. For development only: whoever has the key of such "
            + "a root can make coins.")
    static let sandbox = Option(
        "sandbox", "POLICY", variable: "COINLEDGER_SANDBOX", fallback: "separate",
        help: "What is done with purchases of the sandbox: refuse, separate (granted, but never "
            + "mixed with real ones), or allow-list (as separate, for the listed accounts only).")
    static let sandboxAccounts = Option(
        "sandbox-accounts", "ID,ID…", variable: "COINLEDGER_SANDBOX_ACCOUNTS",
        help: "The accounts of the allow-list.")
    static let quantityMax = Option(
        "quantity-max", "N", variable: "COINLEDGER_QUANTITY_MAX", fallback: "10",
        help: "The largest quantity of one purchase.")
    static let receiptURL = Option(
        "verify-receipt-url", "URL", variable: "COINLEDGER_VERIFY_RECEIPT_URL",
        fallback: VerifyReceiptConfiguration().productionURL,
        help: "Where the store is asked about app receipts first.")
    static let sandboxReceiptURL = Option(
        "verify-receipt-sandbox-url", "URL", variable: "COINLEDGER_VERIFY_RECEIPT_SANDBOX_URL",
        fallback: VerifyReceiptConfiguration().sandboxURL,
        help: "Where the store is asked about app receipts of the sandbox.")
    static let sharedSecret = Option(
        nil, "SECRET", variable: "COINLEDGER_APP_STORE_SHARED_SECRET",
        help: "The app's shared secret for verifyReceipt, if it needs one.")
    static let verificationThreads = Option(
        "verification-threads", "N", variable: "COINLEDGER_VERIFICATION_THREADS",
        help: "Threads that verify signatures. As many as there are cores, unless given.")
    static let httpLoops = Option(
        "http-loops", "N", variable: "COINLEDGER_HTTP_LOOPS",
        help: "Threads that serve requests, each with connections to the database of its own. As "
            + "many as there are cores, but at most four, unless given.")
    static let logLevel = Option(
        "log-level", "LEVEL", variable: "COINLEDGER_LOG_LEVEL", fallback: "info",
        help: "The least that is logged: debug, info, warning or error. info has a line for each "
            + "request.")

    static let all = [
        DatabaseOptions.url, listen, catalogue, ledgerPolicy, answerDays, notificationDays,
        attemptDays, keepRejectedReceipts, roots, allowPrivateRoot, appIDs, refundPreference,
        sandbox, sandboxAccounts, quantityMax, ReceiptOptions.mode, receiptURL, sandboxReceiptURL,
        sharedSecret, ReceiptOptions.ocsp, ReceiptOptions.ocspURL, verificationThreads, httpLoops,
        logLevel,
        AppStoreServerOptions.key, AppStoreServerOptions.keyID, AppStoreServerOptions.issuerID,
        AppStoreServerOptions.bundleID, AppStoreServerOptions.url,
        AppStoreServerOptions.sandboxURL,
    ]

    init(_ settings: Settings) throws {
        listen = try ListenAddress(settings, ServiceOptions.listen)
        roots = try ServiceOptions.roots(settings)
        let catalogue = try ServiceOptions.catalogue(try settings.required(Self.catalogue))
        rules = CommandRules(
            catalogue: catalogue, policy: try ServiceOptions.ledgerPolicy(settings))
        policy = try ServiceOptions.policy(settings, rules)
        answerDays = try settings.integer(ServiceOptions.answerDays, in: 30...36_500)
        attemptDays = try settings.integer(ServiceOptions.attemptDays, in: 1...36_500)
        keepsRejectedReceipts = try settings.isOn(ServiceOptions.keepRejectedReceipts)
        notificationDays = try settings.integer(ServiceOptions.notificationDays, in: 30...36_500)
        appIDs = try ServiceOptions.appIDs(settings)
        refundPreference = try ServiceOptions.refundPreference(settings)
        receiptMode = try ReceiptOptions.mode(settings)
        revocation = try ReceiptOptions.revocation(settings)
        receipts = try ServiceOptions.receipts(settings)
        storeAPI = try AppStoreServerOptions.configuration(
            settings, bundleIDs: catalogue.bundleIDs)
        log = try ServiceOptions.log(settings)
        verificationThreads =
            settings.optional(ServiceOptions.verificationThreads) == nil
            ? ServiceOptions.cores
            : Int(try settings.integer(ServiceOptions.verificationThreads, in: 1...256))
        httpLoops =
            settings.optional(ServiceOptions.httpLoops) == nil
            ? ServiceOptions.httpLoopsDefault
            : Int(try settings.integer(ServiceOptions.httpLoops, in: 1...16))
    }

    private static let answerDaysUsual: Int64 = 30
    private static let attemptDaysUsual: Int64 = 400
    private static let notificationDaysUsual: Int64 = 400

    /// For `coinledger dev`, which knows everything itself.
    init(
        listen: ListenAddress, roots: RootCertificates, policy: PurchasePolicy,
        rules: CommandRules, receipts: VerifyReceiptConfiguration,
        storeAPI: AppStoreServerConfiguration, log: Log
    ) {
        self.listen = listen
        self.roots = roots
        self.policy = policy
        self.rules = rules
        answerDays = ServiceOptions.answerDaysUsual
        attemptDays = ServiceOptions.attemptDaysUsual
        keepsRejectedReceipts = false
        notificationDays = ServiceOptions.notificationDaysUsual
        appIDs = []
        refundPreference = nil
        receiptMode = .offline
        revocation = RevocationConfiguration(mode: .off)
        self.receipts = receipts
        self.storeAPI = storeAPI
        self.log = log
        verificationThreads = ServiceOptions.cores
        httpLoops = ServiceOptions.httpLoopsDefault
    }

    private static var cores: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

    /// The database needs cores, too, so that more loops than these would only wait for each other.
    private static var httpLoopsDefault: Int { min(cores, 4) }

    static func catalogue(_ path: String) throws(UsageError) -> Catalogue {
        let bytes = try FileContents.read(path)
        do throws(CatalogueFile.Invalid) {
            return try CatalogueFile.parse(bytes)
        } catch {
            throw UsageError("\(path): \(error.reason)")
        }
    }

    static func log(_ settings: Settings) throws(UsageError) -> Log {
        let name = try settings.required(logLevel)
        guard let level = Log.Level(name) else {
            throw UsageError("\(logLevel.name): there is no level \(name)")
        }
        return .standardError(minimum: level)
    }

    static func policy(
        _ settings: Settings, _ rules: CommandRules
    ) throws(UsageError) -> PurchasePolicy {
        PurchasePolicy(
            catalogue: rules.catalogue, sandbox: try sandbox(settings),
            quantityMax: try settings.integer(quantityMax, in: 1...1_000_000),
            freeExpiry: rules.policy.freeExpiry)
    }

    static func ledgerPolicy(_ settings: Settings) throws(UsageError) -> LedgerPolicy {
        let path = settings.optional(ledgerPolicy)
        let bytes = try path.map(FileContents.read) ?? Array(PolicyFile.defaultText.utf8)
        do throws(PolicyFile.Invalid) {
            return try PolicyFile.parse(bytes)
        } catch {
            throw UsageError("\(path.map { "\($0): " } ?? "")\(error.reason)")
        }
    }

    static func roots(_ settings: Settings) throws(UsageError) -> RootCertificates {
        let paths = settings.values(roots)
        guard !paths.isEmpty else {
            _ = try settings.required(roots)
            throw UsageError("\(roots.name) is missing")
        }
        var files: [[UInt8]] = []
        for path in paths { files.append(try FileContents.read(path)) }
        let allowPrivate = try settings.isOn(allowPrivateRoot)
        do throws(RootCertificateError) {
            return try RootCertificates(files: files, allowPrivate: allowPrivate)
        } catch {
            throw UsageError(error.sentence(paths))
        }
    }

    private static func sandbox(_ settings: Settings) throws(UsageError) -> SandboxPolicy {
        switch try settings.required(sandbox) {
        case "refuse": return .refuse
        case "separate": return .separate
        case "allow-list":
            var accounts: Set<AccountID> = []
            for part in try settings.required(sandboxAccounts).split(separator: ",") {
                guard let account = AccountID(String(part)) else {
                    throw UsageError("\(sandboxAccounts.name): \(part) is no account id")
                }
                accounts.insert(account)
            }
            return .allowList(accounts)
        case let text: throw UsageError("\(sandbox.name): there is no policy \(text)")
        }
    }

    static func appIDs(_ settings: Settings) throws(UsageError) -> Set<Int64> {
        var ids: Set<Int64> = []
        for text in settings.values(appIDs) {
            guard let id = Int64(text), id > 0 else {
                throw UsageError("\(appIDs.name): \(text) is no number of an app")
            }
            ids.insert(id)
        }
        return ids
    }

    private static func refundPreference(
        _ settings: Settings
    ) throws(UsageError) -> ConsumptionInformation.RefundPreference? {
        switch try settings.required(refundPreference) {
        case "none": return nil
        case "decline": return .decline
        case "grant-full": return .grantFull
        case "grant-prorated": return .grantProrated
        case let text:
            throw UsageError("\(refundPreference.name): there is no preference \(text)")
        }
    }

    private static func receipts(
        _ settings: Settings
    ) throws(UsageError) -> VerifyReceiptConfiguration {
        var configuration = VerifyReceiptConfiguration()
        configuration.productionURL = try url(settings, receiptURL)
        configuration.sandboxURL = try url(settings, sandboxReceiptURL)
        configuration.sharedSecret = settings.optional(sharedSecret)
        return configuration
    }

    static func url(_ settings: Settings, _ option: Option) throws(UsageError) -> String {
        let text = try settings.required(option)
        guard text.hasPrefix("https://") || text.hasPrefix("http://") else {
            throw UsageError("\(option.name): \(text) isn't a URL of https or http")
        }
        return text
    }
}

extension RootCertificateError {
    fileprivate func sentence(_ paths: [String]) -> String {
        switch self {
        case .noFile: "no root certificate is given"
        case .tooMany: "too many root certificates are given"
        case .notACertificate(let file): "\(paths[file]) holds no certificate"
        case .notPinned(let file, let fingerprint):
            "\(paths[file]) isn't a root of Apple's (SHA-256 \(fingerprint)); "
                + "--allow-private-root would take it"
        }
    }
}
