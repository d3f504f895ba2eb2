import Base

/// Tells from an answer what went wrong.
enum AppStoreServerAnswer {
    /// Nil if the answer says that the call succeeded.
    ///
    /// - Parameter now: milliseconds since 1970.
    static func error(
        in response: HTTPClientResponse, now: Int64
    ) -> AppStoreServerError? {
        switch response.status {
        case 200...299: nil
        case 401: .unauthorized
        case 429:
            .rateLimited(until: response.retryAfter.flatMap { RetryAfter.instant($0, now: now) })
        default: error(status: response.status, body: response.body)
        }
    }

    /// Source: developer.apple.com, Error codes (App Store Server API). A code that isn't known
    /// counts by its status.
    private static func error(status: Int, body: [UInt8]) -> AppStoreServerError {
        let object = (try? JSON.parse(body))?.object
        // Whatever comes from the store itself has a code; the rest is from something before it.
        guard let code = object?["errorCode"]?.integer else { return .unavailable(.http(status)) }
        switch (status, code) {
        case (_, 4_290_000): return .rateLimited(until: nil)
        case (_, 4_040_002), (_, 4_040_004), (_, 4_040_006), (_, 5_000_000), (_, 5_000_001):
            return .unavailable(.status(code))
        case (404, _): return .notFound(code: code)
        case (400...499, _):
            let message = line(object?["errorMessage"]?.string ?? "")
            return .refused(status: status, code: code, message: message)
        default: return .unavailable(.status(code))
        }
    }

    /// No sentence of the store's is longer.
    private static let messageCharactersMax = 200

    /// Fit for a log: one line, and not too long.
    private static func line(_ text: String) -> String {
        let characters = text.unicodeScalars.prefix(messageCharactersMax).map { scalar in
            scalar.properties.generalCategory == .control ? " " : Character(scalar)
        }
        return String(characters)
    }
}

/// When a server wants to be asked again.
enum RetryAfter {
    /// Milliseconds since 1970, which is what the store writes; small numbers are seconds from now
    /// (RFC 9110, section 10.2.3), as something before it may write.
    static func instant(_ text: String, now: Int64) -> Int64? {
        guard !text.isEmpty, text.utf8.count <= digitsMax,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text)
        else { return nil }
        return number <= secondsMax ? now + number * 1000 : number
    }

    /// Enough for any instant up to the year 9999.
    private static let digitsMax = 15
    /// Nobody means an instant in the first days of 1970.
    private static let secondsMax: Int64 = 86_400_000
}
