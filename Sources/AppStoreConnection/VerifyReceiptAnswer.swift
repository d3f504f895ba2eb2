import AppStore
import Base

/// What one attempt came to.
enum VerifyReceiptAnswer: Hashable, Sendable {
    case valid(VerifiedReceipt)
    case belongsToSandbox
    case belongsToProduction
    /// Worth another attempt.
    case unavailable(UnavailableReason)
    /// The receipt can't be read, or the store had a bad moment: it uses one status for both.
    case unreadable
    case failed(VerifyReceiptError)

    /// Reads what the endpoint of `environment` answered. Takes about a millisecond for the
    /// receipt of a busy customer.
    init(_ response: HTTPClientResponse, from environment: StoreEnvironment) {
        // The store itself always answers 200; anything else is from something before it.
        guard response.status == 200 else {
            self = .unavailable(.http(response.status))
            return
        }
        guard let object = (try? JSON.parse(response.body))?.object,
            let status = object["status"]?.integer
        else {
            self = .unavailable(.notJSON)
            return
        }
        guard status == 0 else {
            self.init(status: status, isRetryable: VerifyReceiptAnswer.isRetryable(object))
            return
        }
        do throws(InvalidStoreField) {
            self = .valid(try VerifiedReceipt(answer: object, from: environment))
        } catch {
            self = .failed(.wrongShape(field: error.field))
        }
    }

    /// Source: developer.apple.com, status (App Store Receipts).
    private init(status: Int64, isRetryable: Bool) {
        switch status {
        case 21000, 21004: self = .failed(.misconfigured(status: status))
        case 21002: self = .unreadable
        case 21003, 21006, 21010: self = .failed(.rejected(status: status))
        case 21007: self = .belongsToSandbox
        case 21008: self = .belongsToProduction
        case 21100...21199 where !isRetryable: self = .failed(.rejected(status: status))
        // 21005, 21009 and the rest of 211xx; and what isn't known isn't held against anyone.
        default: self = .unavailable(.status(status))
        }
    }

    /// The documentation spells the name with a hyphen, real answers with an underscore.
    private static func isRetryable(_ object: JSONObject) -> Bool {
        switch object["is-retryable"] ?? object["is_retryable"] {
        case .bool(false), .integer(0), .string("0"), .string("false"): false
        default: true
        }
    }
}
