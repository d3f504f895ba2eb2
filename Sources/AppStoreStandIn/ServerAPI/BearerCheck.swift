import Base

/// Whether a request to the Server API carries a token that Apple would accept.
///
/// Source: developer.apple.com, Generating JSON Web Tokens for API requests.
struct BearerCheck: Sendable {
    let key: StandInAPIKey

    private static let lifetimeSecondsMax: Int64 = 3600
    /// How far the client's clock may be ahead.
    private static let aheadSecondsMax: Int64 = 60
    private static let tokenBytesMax = 4096

    /// - Parameter now: seconds since 1970.
    func accepts(_ authorization: String?, now: Int64) -> Bool {
        guard let authorization, authorization.hasPrefix("Bearer "),
            authorization.utf8.count <= BearerCheck.tokenBytesMax
        else { return false }
        let segments = authorization.dropFirst("Bearer ".count)
            .split(separator: ".", omittingEmptySubsequences: false).map { String($0) }
        guard segments.count == 3, let header = BearerCheck.object(segments[0]),
            let claims = BearerCheck.object(segments[1]),
            let signature = Base64.decode(segments[2], .url)
        else { return false }
        return header["alg"] == "ES256" && header["typ"] == "JWT"
            && header["kid"] == .string(key.keyID) && areRight(claims, now)
            && key.key.verifies(signature, of: Array("\(segments[0]).\(segments[1])".utf8))
    }

    private func areRight(_ claims: JSONObject, _ now: Int64) -> Bool {
        guard claims["iss"] == .string(key.issuerID), claims["aud"] == "appstoreconnect-v1",
            claims["bid"] == .string(key.bundleID), let issued = claims["iat"]?.integer,
            let end = claims["exp"]?.integer
        else { return false }
        return issued <= now + BearerCheck.aheadSecondsMax && end > now && issued < end
            && end - BearerCheck.lifetimeSecondsMax <= issued
    }

    private static func object(_ segment: String) -> JSONObject? {
        guard let bytes = Base64.decode(segment, .url) else { return nil }
        return (try? JSON.parse(bytes))?.object
    }
}
