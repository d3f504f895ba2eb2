/// Where the App Store Server API is, who asks it, and how patiently.
package struct AppStoreServerConfiguration: Sendable {
    /// Made in App Store Connect, under Users and Access › Integrations › In-App Purchase.
    package var key: AppStoreServerKey
    /// The name that App Store Connect gave to the key, of ten characters.
    package var keyID: String
    /// Of the team, a UUID.
    package var issuerID: String
    /// Of the app that is asked about: a token is good for one app.
    package var bundleID: String
    package var productionURL = "https://api.storekit.apple.com"
    package var sandboxURL = "https://api.storekit-sandbox.apple.com"
    /// For all attempts of a call and the waits between them, for its turn too.
    package var deadlineMilliseconds: Int64 = 20_000
    package var attemptMilliseconds: Int64 = 10_000
    package var attemptsMax = 4
    package var firstPauseMilliseconds: Int64 = 250
    package var pauseMillisecondsMax: Int64 = 4000
    /// Calls that weren't answered yet, those that wait for their turn included.
    package var inFlightMax = 32
    /// How much of the store's published rates is used. Instances don't know of each other, so
    /// several together stay below the limits only if each takes its part.
    package var ratePercent: Int64 = 80

    package init(key: AppStoreServerKey, keyID: String, issuerID: String, bundleID: String) {
        self.key = key
        self.keyID = keyID
        self.issuerID = issuerID
        self.bundleID = bundleID
    }
}
