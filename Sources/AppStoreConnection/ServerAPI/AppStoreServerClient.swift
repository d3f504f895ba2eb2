package import AppStore
package import Base

/// Asks the App Store Server API.
///
/// Every call waits for its turn below the store's limits, is tried several times inside one
/// deadline, and fails at once if as many as allowed are under way. What the store signed is
/// returned as it came: it isn't verified here.
///
/// Source: developer.apple.com, App Store Server API.
package struct AppStoreServerClient: Sendable {
    package typealias Send = VerifyReceiptClient.Send

    private let caller: AppStoreServerCaller

    /// - Parameter pool: reads answers, which may be large.
    package init(
        http: HTTPClient, pool: WorkerPool, configuration: AppStoreServerConfiguration,
        clock: RetryClock = .system, wallClock: @escaping @Sendable () -> Int64
    ) {
        let send: Send = { (request) async throws(HTTPClientError) in
            try await http.send(request)
        }
        self.init(
            send: send, pool: pool, configuration: configuration, clock: clock,
            wallClock: wallClock)
    }

    /// - Parameter wallClock: milliseconds since 1970.
    package init(
        send: @escaping Send, pool: WorkerPool, configuration: AppStoreServerConfiguration,
        clock: RetryClock, wallClock: @escaping @Sendable () -> Int64
    ) {
        caller = AppStoreServerCaller(
            send: send, pool: pool, configuration: configuration, clock: clock,
            wallClock: wallClock)
    }

    /// A transaction as signed now, finished or not (Get Transaction Info).
    ///
    /// - Throws: `.notFound` if the environment has none of this id.
    package func transaction(
        _ id: String, in environment: StoreEnvironment
    ) async throws(AppStoreServerError) -> String {
        let target = "/inApps/v1/transactions/\(try AppStoreServerRequest.segment(id))"
        return try await caller.call(.init(.transaction, environment, target)) {
            (fields) throws(AppStoreServerError) in
            try fields.required("signedTransactionInfo", fields.text("signedTransactionInfo"))
        }
    }

    /// The same from production, or else from the sandbox: an id doesn't say where it belongs.
    package func transaction(
        _ id: String
    ) async throws(AppStoreServerError) -> (signed: String, environment: StoreEnvironment) {
        do throws(AppStoreServerError) {
            return (try await transaction(id, in: .production), .production)
        } catch {
            guard case .notFound = error else { throw error }
            return (try await transaction(id, in: .sandbox), .sandbox)
        }
    }

    /// What the customer of any of his transactions has bought (Get Transaction History, version
    /// 2).
    ///
    /// - Parameter revision: of the page before; the query must stay the same.
    package func history(
        of id: String, in environment: StoreEnvironment,
        _ query: TransactionHistoryQuery = TransactionHistoryQuery(), revision: String? = nil
    ) async throws(AppStoreServerError) -> TransactionPage {
        let parameters = AppStoreServerClient.revision(revision) + query.parameters
        let target =
            "/inApps/v2/history/\(try AppStoreServerRequest.segment(id))"
            + AppStoreServerRequest.query(parameters)
        return try await caller.call(.init(.history, environment, target)) {
            (fields) throws(AppStoreServerError) in try TransactionPage(fields)
        }
    }

    /// What the customer got money back for (Get Refund History).
    package func refunds(
        of id: String, in environment: StoreEnvironment, revision: String? = nil
    ) async throws(AppStoreServerError) -> TransactionPage {
        let target =
            "/inApps/v2/refund/lookup/\(try AppStoreServerRequest.segment(id))"
            + AppStoreServerRequest.query(AppStoreServerClient.revision(revision))
        return try await caller.call(.init(.refunds, environment, target)) {
            (fields) throws(AppStoreServerError) in try TransactionPage(fields)
        }
    }

    /// What was bought with an order (Look Up Order ID). The sandbox has no orders.
    package func order(_ orderID: String) async throws(AppStoreServerError) -> OrderLookup {
        let target = "/inApps/v1/lookup/\(try AppStoreServerRequest.segment(orderID))"
        return try await caller.call(.init(.order, .production, target)) {
            (fields) throws(AppStoreServerError) in try OrderLookup(fields)
        }
    }

    /// Tells the store how much of a purchase was used (Send Consumption Information, version 2),
    /// up to twelve hours after it has asked.
    package func sendConsumption(
        _ information: ConsumptionInformation, of id: String, in environment: StoreEnvironment
    ) async throws(AppStoreServerError) {
        let id = try AppStoreServerRequest.segment(id)
        try await caller.call(
            .init(
                .consumption, environment, "/inApps/v2/transactions/consumption/\(id)",
                method: "PUT", body: information.json))
    }

    /// Says whose purchase it is, in place of whatever was said before (Set App Account Token).
    ///
    /// - Parameter token: a UUID.
    package func setAppAccountToken(
        _ token: String, of originalID: String, in environment: StoreEnvironment
    ) async throws(AppStoreServerError) {
        let id = try AppStoreServerRequest.segment(originalID)
        try await caller.call(
            .init(
                .appAccountToken, environment, "/inApps/v1/transactions/\(id)/appAccountToken",
                method: "PUT", body: ["appAccountToken": .string(token)]))
    }

    /// Finishes a transaction in the app's stead (Finish Transaction).
    package func finish(
        _ id: String, in environment: StoreEnvironment
    ) async throws(AppStoreServerError) {
        let id = try AppStoreServerRequest.segment(id)
        try await caller.call(
            .init(
                .finish, environment, "/inApps/v1/transactions/\(id)/finish", method: "POST"))
    }

    /// Has the store send a notification of the type `TEST`.
    ///
    /// - Returns: the token to ask for its fate with.
    package func requestTestNotification(
        in environment: StoreEnvironment
    ) async throws(AppStoreServerError) -> String {
        let request = AppStoreServerRequest(
            .testNotification, environment, "/inApps/v1/notifications/test", method: "POST")
        return try await caller.call(request) { (fields) throws(AppStoreServerError) in
            try fields.required("testNotificationToken", fields.text("testNotificationToken"))
        }
    }

    /// What has become of a test notification.
    package func testNotification(
        _ token: String, in environment: StoreEnvironment
    ) async throws(AppStoreServerError) -> TestNotification {
        let target = "/inApps/v1/notifications/test/\(try AppStoreServerRequest.segment(token))"
        return try await caller.call(.init(.testNotificationStatus, environment, target)) {
            (fields) throws(AppStoreServerError) in try TestNotification(fields)
        }
    }

    /// The notifications of a time (Get Notification History).
    ///
    /// - Parameter page: what the page before calls `next`; the query must stay the same.
    package func notificationHistory(
        _ query: NotificationHistoryQuery, page: String? = nil, in environment: StoreEnvironment
    ) async throws(AppStoreServerError) -> NotificationPage {
        let parameters = page.map { [(name: "paginationToken", value: $0)] } ?? []
        let target =
            "/inApps/v1/notifications/history" + AppStoreServerRequest.query(parameters)
        let request = AppStoreServerRequest(
            .notificationHistory, environment, target, method: "POST", body: query.json)
        return try await caller.call(request) { (fields) throws(AppStoreServerError) in
            try NotificationPage(fields)
        }
    }

    private static func revision(_ revision: String?) -> [(name: String, value: String)] {
        revision.map { [(name: "revision", value: $0)] } ?? []
    }
}
