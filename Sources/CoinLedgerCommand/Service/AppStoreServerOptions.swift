import AppStoreConnection

/// How the service asks the App Store Server API, if it has a key for it.
enum AppStoreServerOptions {
    static let key = Option(
        "app-store-key", "FILE", variable: "COINLEDGER_APP_STORE_KEY",
        help: "The private key for the App Store Server API (….p8). Without it, nothing that needs "
            + "the API is done. The README says where to get it.")
    static let keyID = Option(
        "app-store-key-id", "ID", variable: "COINLEDGER_APP_STORE_KEY_ID",
        help: "The name that App Store Connect has given to the key.")
    static let issuerID = Option(
        "app-store-issuer-id", "UUID", variable: "COINLEDGER_APP_STORE_ISSUER_ID",
        help: "The issuer id that App Store Connect shows above the keys.")
    static let bundleID = Option(
        "app-store-bundle-id", "ID", variable: "COINLEDGER_APP_STORE_BUNDLE_ID",
        help: "The app that the API is asked about. The catalogue's, unless it has several.")
    static let url = Option(
        "app-store-api-url", "URL", variable: "COINLEDGER_APP_STORE_API_URL",
        fallback: "https://api.storekit.apple.com",
        help: "Where the App Store Server API is.")
    static let sandboxURL = Option(
        "app-store-api-sandbox-url", "URL", variable: "COINLEDGER_APP_STORE_API_SANDBOX_URL",
        fallback: "https://api.storekit-sandbox.apple.com",
        help: "Where the App Store Server API of the sandbox is.")

    static let all = [key, keyID, issuerID, bundleID, url, sandboxURL]

    /// Nil without a key.
    ///
    /// - Parameter bundleIDs: the catalogue's.
    static func configuration(
        _ settings: Settings, bundleIDs: [String]
    ) throws(UsageError) -> AppStoreServerConfiguration? {
        guard let path = settings.optional(key) else {
            // Half a configuration is a mistake, not a wish to do without.
            for option in [keyID, issuerID] where settings.optional(option) != nil {
                throw UsageError("\(option.name) needs \(key.name)")
            }
            return nil
        }
        var configuration = AppStoreServerConfiguration(
            key: try readKey(path), keyID: try word(settings, keyID),
            issuerID: try word(settings, issuerID),
            bundleID: try bundleID(settings, bundleIDs))
        configuration.productionURL = try base(settings, url)
        configuration.sandboxURL = try base(settings, sandboxURL)
        return configuration
    }

    private static func readKey(_ path: String) throws(UsageError) -> AppStoreServerKey {
        let pem = try FileContents.read(path)
        do throws(AppStoreServerKeyError) {
            return try AppStoreServerKey(pem: pem)
        } catch {
            switch error {
            case .notAKey: throw UsageError("\(path) holds no private key in PEM")
            case .wrongKind: throw UsageError("\(path): the key isn't one on the curve P-256")
            }
        }
    }

    private static func bundleID(
        _ settings: Settings, _ bundleIDs: [String]
    ) throws(UsageError) -> String {
        guard let given = settings.optional(bundleID) else {
            guard bundleIDs.count == 1 else {
                throw UsageError("\(bundleID.name) is missing, and the catalogue has several apps")
            }
            return bundleIDs[0]
        }
        guard bundleIDs.contains(given) else {
            throw UsageError("\(bundleID.name): the catalogue has no app \(given)")
        }
        return given
    }

    private static func word(
        _ settings: Settings, _ option: Option
    ) throws(UsageError) -> String {
        let text = try settings.required(option)
        let isWord =
            (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard isWord else { throw UsageError("\(option.name): \(text) isn't an id") }
        return text
    }

    /// Without a slash at its end.
    private static func base(_ settings: Settings, _ option: Option) throws(UsageError) -> String {
        var text = try ServiceOptions.url(settings, option)
        while text.hasSuffix("/") { text.removeLast() }
        return text
    }
}
