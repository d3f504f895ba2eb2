import AppStoreConnection
import AppStoreStandIn
import Glibc
import TestSupport
import Testing

@testable import CoinLedgerCommand

@Suite struct `The options for the App Store Server API` {
    /// With a key in a file, as long as `body` runs.
    private func with(
        _ more: [String], bundleIDs: [String] = ["com.a"],
        _ body: (AppStoreServerConfiguration?) throws -> Void
    ) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let file = folder.path + "/key.p8"
        try FileContents.replace(file, with: Array(SigningKey(.p256).pem.utf8))
        let arguments =
            ["--app-store-key", file, "--app-store-key-id", "K", "--app-store-issuer-id", "I"]
            + more
        let settings = try Settings(
            arguments, options: AppStoreServerOptions.all, environment: [:])
        try body(try AppStoreServerOptions.configuration(settings, bundleIDs: bundleIDs))
    }

    private func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "nothing"
        } catch {
            return "\(error)"
        }
    }

    @Test func `are Apple's unless said otherwise`() throws {
        try with([]) { configuration in
            let configuration = try #require(configuration)
            #expect(configuration.bundleID == "com.a")
            #expect(configuration.keyID == "K")
            #expect(configuration.issuerID == "I")
            #expect(configuration.productionURL == "https://api.storekit.apple.com")
            #expect(configuration.sandboxURL == "https://api.storekit-sandbox.apple.com")
        }
    }

    @Test func `name another place without its last slash`() throws {
        try with(["--app-store-api-url", "http://127.0.0.1:1//"]) { configuration in
            #expect(configuration?.productionURL == "http://127.0.0.1:1")
        }
        #expect(
            message { try with(["--app-store-api-url", "ftp://a"]) { _ in } }
                == "--app-store-api-url: ftp://a isn't a URL of https or http")
    }

    @Test func `name one app of the catalogue`() throws {
        try with(["--app-store-bundle-id", "com.b"], bundleIDs: ["com.a", "com.b"]) {
            #expect($0?.bundleID == "com.b")
        }
        #expect(
            message { try with([], bundleIDs: ["com.a", "com.b"]) { _ in } }
                == "--app-store-bundle-id is missing, and the catalogue has several apps")
        #expect(
            message { try with(["--app-store-bundle-id", "com.c"]) { _ in } }
                == "--app-store-bundle-id: the catalogue has no app com.c")
    }

    @Test func `may be left out all together`() throws {
        let settings = try Settings([], options: AppStoreServerOptions.all, environment: [:])
        #expect(
            try AppStoreServerOptions.configuration(settings, bundleIDs: ["com.a"]) == nil)
    }

    @Test func `go together`() throws {
        let settings = try Settings(
            ["--app-store-issuer-id", "I"], options: AppStoreServerOptions.all, environment: [:])
        #expect(
            message {
                _ = try AppStoreServerOptions.configuration(settings, bundleIDs: ["com.a"])
            } == "--app-store-issuer-id needs --app-store-key")
    }
}
