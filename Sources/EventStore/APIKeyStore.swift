package import CoinLedger

/// A key of the API as it's kept: never the secret, only its SHA-256.
package struct APIKey: Hashable, Sendable {
    package let id: String
    package let name: String
    package let scopes: [String]
    package let secretSHA256: [UInt8]
    package let createdAt: Timestamp
    package let revokedAt: Timestamp?

    package init(
        id: String, name: String, scopes: [String], secretSHA256: [UInt8], createdAt: Timestamp,
        revokedAt: Timestamp? = nil
    ) {
        self.id = id
        self.name = name
        self.scopes = scopes
        self.secretSHA256 = secretSHA256
        self.createdAt = createdAt
        self.revokedAt = revokedAt
    }
}

/// Where the keys of the API are kept.
package protocol APIKeyStore: Sendable {
    /// All of them, revoked ones as well, oldest first.
    func apiKeys() async throws(EventStoreError) -> [APIKey]

    func create(_ key: APIKey) async throws(EventStoreError)

    /// Answers whether there was such a key in force.
    func revokeAPIKey(_ id: String, at time: Timestamp) async throws(EventStoreError) -> Bool
}
