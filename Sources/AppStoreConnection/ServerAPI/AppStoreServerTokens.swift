import Base

/// The tokens (JWT, RFC 7519) that calls are made with. One is used for minutes, and several
/// callers share it.
///
/// Source: developer.apple.com, Generating JSON Web Tokens for API requests.
final class AppStoreServerTokens: Sendable {
    private let configuration: AppStoreServerConfiguration
    /// Milliseconds since 1970.
    private let now: @Sendable () -> Int64
    private let current = Lock<Token?>(nil)

    struct Token: Sendable {
        let text: String
        fileprivate let issuedAt: Int64
        fileprivate let expiresAt: Int64
    }

    /// The store takes up to an hour; its own libraries use this.
    static let lifeSeconds: Int64 = 300
    /// A token is replaced so long before its end that no call under way outlives it.
    static let renewalSeconds: Int64 = 60

    init(_ configuration: AppStoreServerConfiguration, now: @escaping @Sendable () -> Int64) {
        self.configuration = configuration
        self.now = now
    }

    /// A token in force, and whether it was made for this call.
    func token() -> (token: Token, isNew: Bool) {
        let seconds = now() / 1000
        return current.withLock { current in
            // One from the future is left over from before the clock was set back.
            if let token = current, token.issuedAt <= seconds,
                seconds < token.expiresAt - AppStoreServerTokens.renewalSeconds
            {
                return (token, false)
            }
            let token = make(at: seconds)
            current = token
            return (token, true)
        }
    }

    /// Forgets a token that was refused.
    func discard(_ token: Token) {
        current.withLock { current in
            if current?.text == token.text { current = nil }
        }
    }

    private func make(at seconds: Int64) -> Token {
        let expiresAt = seconds + AppStoreServerTokens.lifeSeconds
        let header: JSON = ["alg": "ES256", "kid": .string(configuration.keyID), "typ": "JWT"]
        let claims: JSON = [
            "iss": .string(configuration.issuerID), "iat": .integer(seconds),
            "exp": .integer(expiresAt), "aud": "appstoreconnect-v1",
            "bid": .string(configuration.bundleID),
        ]
        let input = Base64.encode(header.bytes, .url) + "." + Base64.encode(claims.bytes, .url)
        let signature = configuration.key.sign(Array(input.utf8))
        return Token(
            text: input + "." + Base64.encode(signature, .url), issuedAt: seconds,
            expiresAt: expiresAt)
    }
}
