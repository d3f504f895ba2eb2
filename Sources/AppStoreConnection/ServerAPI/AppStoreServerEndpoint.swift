/// What the store counts requests by, with its limits for an app.
///
/// Source: developer.apple.com, Identifying rate limits.
enum AppStoreServerEndpoint: CaseIterable, Hashable, Sendable {
    case transaction
    case history
    case refunds
    case order
    case consumption
    case appAccountToken
    case finish
    case testNotification
    case testNotificationStatus
    case notificationHistory

    /// In production; the sandbox allows a tenth.
    var requestsPerSecond: Int64 {
        switch self {
        case .transaction, .history, .consumption, .finish, .notificationHistory: 50
        case .appAccountToken: 20
        case .refunds, .order: 10
        // No limit is published for the status, so it gets the lowest.
        case .testNotification, .testNotificationStatus: 1
        }
    }
}
