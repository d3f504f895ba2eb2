import AppStore
import AppStoreConnection
import Base
import CoinLedger
import CoinLedgerService
import PostgresEventStore
import Telemetry

/// What `coinledger app-store` asks the store with, and believes it by.
struct AppStoreTools: Sendable {
    let api: AppStoreServerClient
    let verifier: SignedTransactionVerifier
    private let bundleIDs: [String]
    private let appIDs: Set<Int64>
    private let revocation: RevocationCheck?
    private let workers: WorkerPool
    private let http: HTTPClient

    /// One verification at a time is waited for.
    private static let workersMax = 2
    private static let waitingMax = 64

    /// - Parameter change: how the store is asked otherwise than by the service.
    init(
        _ settings: Settings, _ change: (inout AppStoreServerConfiguration) -> Void = { _ in }
    ) throws {
        let catalogue = try ServiceOptions.catalogue(
            try settings.required(ServiceOptions.catalogue))
        bundleIDs = catalogue.bundleIDs
        appIDs = try ServiceOptions.appIDs(settings)
        let roots = try ServiceOptions.roots(settings)
        verifier = SignedTransactionVerifier(roots: roots)
        let asked = try ReceiptOptions.revocation(settings)
        let known = try AppStoreServerOptions.configuration(settings, bundleIDs: bundleIDs)
        guard var configuration = known else {
            // Says what is missing.
            _ = try settings.required(AppStoreServerOptions.key)
            throw UsageError("\(AppStoreServerOptions.key.name) is missing")
        }
        change(&configuration)
        workers = WorkerPool(
            threads: AppStoreTools.workersMax, jobsMax: AppStoreTools.waitingMax)
        http = HTTPClient()
        revocation = RunningService.revocation(asked, roots, http, Metrics())
        api = RunningService.storeAPI(configuration, workers, http)
    }

    /// Takes notifications into the queue as the service does. Whoever works on them looks for
    /// themselves whether there are any.
    func intake(_ store: PostgresEventStore) -> NotificationIntake {
        let bundleIDs = bundleIDs
        return NotificationIntake(
            verification: NotificationVerification(verifier: verifier, workers: workers),
            revocation: revocation, store: store,
            apps: NotifiedApps(bundleIDs: { bundleIDs }, appIDs: appIDs),
            bell: NotificationBell(), clock: SystemClock.now,
            telemetry: NotificationTelemetry(Metrics()), log: .none)
    }

    func stop() {
        http.stop()
        workers.stop()
    }

    static func environment(_ settings: Settings) throws(UsageError) -> StoreEnvironment {
        switch try settings.required(AppStoreCommand.environment) {
        case "production": return .production
        case "sandbox": return .sandbox
        case let text:
            throw UsageError(
                "\(AppStoreCommand.environment.name): \(text) is neither production nor sandbox")
        }
    }

    static func instant(_ text: String, _ option: Option) throws(UsageError) -> Timestamp {
        guard let instant = Timestamp(text) else {
            throw UsageError("\(option.name): \(text) isn't an instant of RFC 3339 with an offset")
        }
        return instant
    }
}

extension AppStoreServerError {
    /// One sentence for the operator, with the store's own code.
    var sentence: String {
        switch self {
        case .notFound(let code): "\(message) (\(code))"
        case .refused(_, let code?, let text): "\(message) (\(code): \(text))"
        case .refused(_, nil, let text): "\(message) (\(text))"
        case .rateLimited(let until?):
            "\(message) (not before \(Timestamp(milliseconds: until)?.description ?? "later"))"
        case .unavailable(let reason): "\(message) (\(reason))"
        case .wrongShape(let field): "\(message) (\(field))"
        case .unauthorized:
            "\(message) Check the key, its id, the issuer and this machine's clock."
        case .rateLimited(nil), .overloaded: message
        }
    }

    var exitStatus: Int32 {
        switch self {
        case .rateLimited, .unavailable, .overloaded: AppStoreCommand.laterStatus
        case .notFound, .refused, .unauthorized, .wrongShape: 1
        }
    }
}

extension DeliveryAttempt {
    /// The store's word, if it's one.
    var printable: String {
        let isWord =
            (1...64).contains(result.utf8.count)
            && result.utf8.allSatisfy {
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) || $0 == UInt8(ascii: "_")
            }
        return isWord ? result : "?"
    }
}
