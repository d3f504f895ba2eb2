/// The calls of the Server API that concern consumables, by the names that faults have for them.
enum ServerAPIEndpoint: String, CaseIterable {
    case transaction = "inApps/v1/transactions"
    case history = "inApps/v2/history"
    case refunds = "inApps/v2/refund/lookup"
    case order = "inApps/v1/lookup"
    case consumption = "inApps/v2/transactions/consumption"
    case appAccountToken = "inApps/v1/transactions/appAccountToken"
    case finish = "inApps/v1/transactions/finish"
    case appTransaction = "inApps/v1/transactions/appTransactions"
    case testNotification = "inApps/v1/notifications/test"
    case testNotificationStatus = "inApps/v1/notifications/test/status"
    case notificationHistory = "inApps/v1/notifications/history"

    /// Requests a second in production; the sandbox has a tenth.
    var requestsPerSecond: Int64 {
        switch self {
        case .transaction, .history, .consumption, .finish, .appTransaction,
            .notificationHistory, .testNotificationStatus:
            50
        case .appAccountToken: 20
        case .order, .refunds: 10
        case .testNotification: 1
        }
    }

    /// The call that a request makes, and the id in its path.
    static func find(
        _ method: String, _ path: [String]
    ) -> (endpoint: ServerAPIEndpoint, id: String)? {
        guard path.first == "inApps", path.count >= 4 else { return nil }
        let last = path[path.count - 1]
        switch (method, path[1], path[2], path.count) {
        case ("GET", "v1", "transactions", 4): return (.transaction, last)
        case ("GET", "v2", "history", 4): return (.history, last)
        case ("GET", "v1", "lookup", 4): return (.order, last)
        case ("POST", "v1", "notifications", 4):
            if last == "test" { return (.testNotification, "") }
            return last == "history" ? (.notificationHistory, "") : nil
        case (_, _, _, 5): return findLonger(method, path, last)
        default: return nil
        }
    }

    private static func findLonger(
        _ method: String, _ path: [String], _ last: String
    ) -> (endpoint: ServerAPIEndpoint, id: String)? {
        let isTransaction = path[1] == "v1" && path[2] == "transactions"
        switch (method, path[1...3].joined(separator: "/")) {
        case ("GET", "v2/refund/lookup"): return (.refunds, last)
        case ("PUT", "v2/transactions/consumption"): return (.consumption, last)
        case ("GET", "v1/transactions/appTransactions"): return (.appTransaction, last)
        case ("GET", "v1/notifications/test"): return (.testNotificationStatus, last)
        case ("PUT", _) where isTransaction && last == "appAccountToken":
            return (.appAccountToken, path[3])
        case ("POST", _) where isTransaction && last == "finish": return (.finish, path[3])
        default: return nil
        }
    }
}
