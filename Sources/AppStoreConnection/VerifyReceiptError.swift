/// Why verifyReceipt confirmed no receipt.
package enum VerifyReceiptError: Error, Hashable {
    /// The store says that the receipt is none of its own, or must not count: for good.
    case rejected(status: Int64)
    /// The store can't read the receipt, nor could it when asked again.
    case malformed
    /// The store gave no usable answer in time; the same receipt may be sent again later.
    case unavailable(UnavailableReason)
    /// Our request or our shared secret is wrong, which only the operator can mend.
    case misconfigured(status: Int64)
    /// The store confirmed the receipt in words we don't understand.
    case wrongShape(field: String)

    package var isRetryable: Bool {
        switch self {
        case .unavailable, .misconfigured, .wrongShape: true
        case .rejected, .malformed: false
        }
    }

    /// Stable, for programs.
    package var code: String {
        switch self {
        case .rejected: "receipt_rejected"
        case .malformed: "receipt_malformed"
        case .unavailable: "store_unavailable"
        case .misconfigured: "store_misconfigured"
        case .wrongShape: "store_answer_unknown"
        }
    }

    /// One sentence without data, for people.
    package var message: String {
        switch self {
        case .rejected: "The App Store doesn't confirm this receipt."
        case .malformed: "The App Store can't read this receipt."
        case .unavailable: "The App Store can't be asked at the moment; send the receipt again."
        case .misconfigured: "The service isn't set up rightly for the App Store."
        case .wrongShape: "The App Store gave an answer that this service doesn't know."
        }
    }
}

/// What was wrong with the last attempt.
package enum UnavailableReason: Hashable, Sendable {
    /// A status of verifyReceipt.
    case status(Int64)
    /// A status of HTTP.
    case http(Int)
    /// An answer that isn't JSON with a status, such as a page for people.
    case notJSON
    case transport(HTTPClientError)
    /// Too many receipts are being read here.
    case overloaded
    /// There was no time left for an attempt.
    case outOfTime
}
