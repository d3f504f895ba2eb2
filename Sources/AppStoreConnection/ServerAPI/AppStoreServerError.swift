/// Why the App Store Server API didn't do what it was asked for.
package enum AppStoreServerError: Error, Hashable {
    /// The store knows no such transaction, token or order in this environment, for good: with its
    /// own code, such as 4040010.
    case notFound(code: Int64)
    /// The store took the request for wrong, with its own code, which may be one that didn't exist
    /// when this was written; or it can't be sent at all, and then there is no code. The message is
    /// for logs.
    case refused(status: Int, code: Int64?, message: String)
    /// The store doesn't accept the key, or this machine's clock is wrong.
    case unauthorized
    /// Too much was asked for.
    ///
    /// - Parameter until: when to ask again, in milliseconds since 1970, if that's known.
    case rateLimited(until: Int64?)
    /// The store gave no usable answer in time; ask again later.
    case unavailable(UnavailableReason)
    /// The store's answer lacks this field, or it holds something that we don't understand.
    case wrongShape(field: String)
    /// As many calls as allowed are under way here.
    case overloaded

    /// Whether the same call may succeed later without anybody changing anything but the
    /// configuration.
    package var isRetryable: Bool {
        switch self {
        case .unauthorized, .rateLimited, .unavailable, .wrongShape, .overloaded: true
        case .notFound, .refused: false
        }
    }

    /// Stable, for programs.
    package var code: String {
        switch self {
        case .notFound: "not_found_in_store"
        case .refused: "store_refused"
        case .unauthorized: "store_unauthorized"
        case .rateLimited: "store_rate_limited"
        case .unavailable: "store_unavailable"
        case .wrongShape: "store_answer_unknown"
        case .overloaded: "overloaded"
        }
    }

    /// One sentence without data, for people.
    package var message: String {
        switch self {
        case .notFound: "The App Store knows nothing of this."
        case .refused: "The App Store refuses this request."
        case .unauthorized: "The App Store doesn't accept the service's API key."
        case .rateLimited: "The App Store is asked too often; try again later."
        case .unavailable: "The App Store can't be asked at the moment; try again later."
        case .wrongShape: "The App Store gave an answer that this service doesn't know."
        case .overloaded: "Too many questions to the App Store are under way; try again later."
        }
    }
}
