import Base
import HTTPServer

/// An error as the Server API words it.
///
/// Source: developer.apple.com, App Store Server API, Error codes.
struct ServerAPIError: Error, Hashable {
    let status: Int
    let code: Int64
    let message: String

    private init(_ status: Int, _ code: Int64, _ message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    static func bad(_ message: String) -> ServerAPIError { .init(400, 4_000_000, message) }

    static let revision = ServerAPIError(400, 4_000_005, "Invalid request revision.")
    static let transactionID = ServerAPIError(400, 4_000_006, "Invalid transaction id.")
    static let startTooEarly = ServerAPIError(
        400, 4_000_012, "The start date is too far in the past.")
    static let startAfterEnd = ServerAPIError(
        400, 4_000_013, "The end date precedes the start date.")
    static let paginationToken = ServerAPIError(400, 4_000_014, "Invalid pagination token.")
    static let startDate = ServerAPIError(400, 4_000_015, "Invalid start date.")
    static let endDate = ServerAPIError(400, 4_000_016, "Invalid end date.")
    static let notificationType = ServerAPIError(
        400, 4_000_018, "Invalid notification type or subtype.")
    static let severalFilters = ServerAPIError(400, 4_000_019, "Several filters were given.")
    static let testToken = ServerAPIError(400, 4_000_020, "Invalid test notification token.")
    static let sort = ServerAPIError(400, 4_000_021, "Invalid sort order.")
    static let productType = ServerAPIError(400, 4_000_022, "Invalid product type.")
    static let productID = ServerAPIError(400, 4_000_023, "Invalid product id.")
    static let ownership = ServerAPIError(400, 4_000_026, "Invalid in-app ownership type.")
    static let revoked = ServerAPIError(400, 4_000_030, "Invalid revoked value.")
    static let customerConsented = ServerAPIError(400, 4_000_035, "Invalid customer consent.")
    static let deliveryStatus = ServerAPIError(400, 4_000_036, "Invalid delivery status.")
    static let sampleContent = ServerAPIError(400, 4_000_041, "Invalid sample content value.")
    static let appAccountToken = ServerAPIError(
        400, 4_000_183, "Invalid app account token: it must be a UUID.")
    static let notOriginal = ServerAPIError(
        400, 4_000_187, "The transaction id isn't an original transaction id.")
    static let noNotificationURL = ServerAPIError(
        404, 4_040_007, "No server notification URL is set.")
    static let unknownTestToken = ServerAPIError(
        404, 4_040_008, "The test notification isn't known, or wasn't sent yet.")
    static let transactionNotFound = ServerAPIError(404, 4_040_010, "Transaction id not found.")
    /// Isn't one of Apple's, who answers with a page.
    static let noSuchPath = ServerAPIError(404, 4_040_000, "There is nothing here.")
    static let rateExceeded = ServerAPIError(429, 4_290_000, "Rate limit exceeded.")
    static let full = ServerAPIError(500, 5_000_001, "The stand-in has no room left. Try again.")

    var response: HTTPResponse { .apiError(status: status, code: code, message: message) }
}

extension HTTPResponse {
    static func apiError(status: Int, code: Int64, message: String) -> HTTPResponse {
        .json(
            ["errorCode": .integer(code), "errorMessage": .string(message)], status: status)
    }

    /// With the instant until which to wait, in milliseconds since 1970, as Apple has it.
    func retryable(after instant: Int64) -> HTTPResponse {
        var response = self
        response.headers.append((name: "Retry-After", value: String(instant)))
        return response
    }
}
