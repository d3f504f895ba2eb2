import EventLoop
import EventStore
import Postgres
import PostgresEventStore
import Telemetry

/// How the database is named on the command line and in the environment.
enum DatabaseOptions {
    static let url = Option(
        "database-url", "URL", variable: "COINLEDGER_DATABASE_URL",
        help: "The PostgreSQL to use, as a libpq URI or key=value text. A password may stand only "
            + "in the variable, since everybody can read process arguments.")

    static func configuration(_ settings: Settings) throws -> PostgresConfiguration {
        let text = try settings.required(url)
        if settings.isFromFlag(url), text.contains("password") || hasPassword(uri: text) {
            throw UsageError(
                "\(url.name): give a password in COINLEDGER_DATABASE_URL or a password file only")
        }
        do throws(PostgresConfigurationError) {
            return try PostgresConfiguration(text)
        } catch {
            switch error {
            // libpq's message may repeat the text, and with it the password.
            case .malformed: throw UsageError("\(url.name): it isn't a URL that libpq understands")
            }
        }
    }

    /// Runs `body` on a loop of its own with the ledger's store open.
    static func withStore<Value: Sendable>(
        _ settings: Settings,
        _ body: @escaping @Sendable (PostgresEventStore, EventLoop) async throws -> Value
    ) throws -> Value {
        let configuration = try configuration(settings)
        let loop = EventLoop()
        let result: Result<Value, any Error> = loop.run {
            do {
                let store = try await PostgresEventStore.open(configuration, on: loop, log: .none)
                defer { store.close() }
                return .success(try await body(store, loop))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private static func hasPassword(uri: String) -> Bool {
        guard let scheme = uri.firstRange(of: "://"), let at = uri.firstIndex(of: "@") else {
            return false
        }
        return scheme.upperBound < at && uri[scheme.upperBound..<at].contains(":")
    }
}
