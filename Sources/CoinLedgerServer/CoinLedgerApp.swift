import Base
package import CoinLedger
import CoinLedgerAPI
package import CoinLedgerService
package import HTTPServer
package import Telemetry

/// The HTTP API: takes a request, lets the use case do its work, and words the answer.
package final class CoinLedgerApp: Sendable {
    let services: Services
    private let telemetry: RequestTelemetry

    /// What the API stands on.
    package struct Services: Sendable {
        package let ledger: Ledger
        package let receipts: ReceiptService
        package let balances: BalanceReader
        /// The catalogue and the policy in force, which may be replaced.
        package let rules: @Sendable () -> CommandRules
        package let refunds: RefundService
        package let history: AccountHistory
        package let purchases: PurchaseReader
        package let redeliveries: RedeliveryService
        package let orders: OrderService
        package let support: SupportReader
        package let intake: NotificationIntake
        package let notifications: NotificationQueue
        package let keys: KeyRing
        package let metrics: Metrics
        package let log: Log
        package let clock: @Sendable () -> Timestamp
        /// Whether the service can do its work now.
        package let isReady: @Sendable () async -> Bool

        package init(
            ledger: Ledger, receipts: ReceiptService, balances: BalanceReader,
            rules: @escaping @Sendable () -> CommandRules, refunds: RefundService,
            history: AccountHistory, purchases: PurchaseReader,
            redeliveries: RedeliveryService, orders: OrderService, support: SupportReader,
            intake: NotificationIntake, notifications: NotificationQueue, keys: KeyRing,
            metrics: Metrics, log: Log,
            clock: @escaping @Sendable () -> Timestamp,
            isReady: @escaping @Sendable () async -> Bool
        ) {
            self.ledger = ledger
            self.receipts = receipts
            self.balances = balances
            self.rules = rules
            self.refunds = refunds
            self.history = history
            self.purchases = purchases
            self.redeliveries = redeliveries
            self.orders = orders
            self.support = support
            self.intake = intake
            self.notifications = notifications
            self.keys = keys
            self.metrics = metrics
            self.log = log
            self.clock = clock
            self.isReady = isReady
        }
    }

    package init(_ services: Services) {
        self.services = services
        telemetry = RequestTelemetry(services.metrics)
    }

    /// Answers any request; never fails.
    package func respond(to request: HTTPRequest) async -> HTTPResponse {
        let start = ContinuousClock.now
        let response: HTTPResponse
        var route: Route?
        switch Route.match(method: request.method, path: request.path) {
        case .found(let found, let segments):
            route = found
            response = await answer(found, segments, request)
        case .methodNotAllowed(let allowed):
            let methods = allowed.joined(separator: ", ")
            response = HTTPResponse(
                Problem(.methodNotAllowed, "The path doesn't take this method.", detail: methods),
                headers: [("Allow", methods)])
        case .notFound:
            response = HTTPResponse(Problem(.notFound, "There is nothing at this path."))
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        telemetry.answered(route, response.status, seconds)
        services.log.info(
            "request answered",
            [
                "http.method": request.method, "http.path": request.path,
                "http.status": response.status,
                "duration.ms": Double(Int64(seconds * 100_000)) / 100,
            ])
        return response
    }

    private func answer(
        _ route: Route, _ segments: [String], _ request: HTTPRequest
    ) async -> HTTPResponse {
        do throws(InvalidRequest) {
            let query = try QueryParameters(
                request.query, known: route.queryParameters,
                repeatable: route.repeatableParameters)
            if let kind = CommandKind(route) {
                return try await command(kind, segments, request, query)
            }
            return try await answer(route, segments, request, query)
        } catch {
            return HTTPResponse(error.problem)
        }
    }

    private func answer(
        _ route: Route, _ segments: [String], _ request: HTTPRequest, _ query: QueryParameters
    ) async throws(InvalidRequest) -> HTTPResponse {
        switch route {
        case .submitReceipt:
            return try await submitReceipt(
                try await account(segments, request, .purchases), request)
        case .linkAppAccountToken:
            return try await linkToken(try await account(segments, request, .purchases), request)
        case .recordConsent:
            return try await recordConsent(
                try await account(segments, request, .purchases), request)
        case .consent: return try await consent(try await account(segments, request, .read))
        case .balance:
            return try await balance(try await account(segments, request, .read), request, query)
        case .accountEvents:
            return try await events(try await account(segments, request, .read), query)
        case .accountLots:
            return try await lots(try await account(segments, request, .read), query)
        case .event: return try await event(try await id(segments, request))
        case .transaction: return try await transaction(try await id(segments, request), query)
        case .consumption: return try await consumption(try await id(segments, request), query)
        case .redeliver:
            try await authorize(request, .support)
            return try await redeliver(segments.first, request)
        case .order:
            try await authorize(request, .support)
            return try await order(segments.first)
        case .supportPurchases:
            try await authorize(request, .support)
            return try await supportPurchases(query)
        case .refund:
            try await authorize(request, .store)
            return try await refund(request)
        case .receiveNotification: return try await receiveNotification(request)
        case .notifications:
            try await authorize(request, .support)
            return try await notifications(query)
        case .notification:
            try await authorize(request, .support)
            return try await notification(segments.first)
        case .retryNotification:
            try await authorize(request, .support)
            return try await retryNotification(segments.first)
        case .batch: return try await batch(request, query)
        case .alive: return HTTPResponse(status: 200, json: ["status": "alive"])
        case .ready: return await ready()
        case .metrics: return metrics()
        case .openAPI: return OpenAPIDocument.response
        case .spend, .grant, .reverseSpend, .adjust, .hold, .captureHold, .releaseHold:
            preconditionFailure("commands are answered elsewhere")
        }
    }

    /// Checks that the key may read, and decodes the id in the path; nil if it isn't text.
    private func id(
        _ segments: [String], _ request: HTTPRequest
    ) async throws(InvalidRequest) -> String? {
        try await authorize(request, .read)
        return segments.first.flatMap(Percent.decode)
    }

    private func ready() async -> HTTPResponse {
        guard await services.isReady() else {
            return HTTPResponse(Problem(.ledgerUnavailable, "The ledger can't be reached now."))
        }
        return HTTPResponse(status: 200, json: ["status": "ready"])
    }

    private func metrics() -> HTTPResponse {
        HTTPResponse(
            status: 200, headers: [("Content-Type", "text/plain; version=0.0.4")],
            body: Array(services.metrics.prometheusText().utf8))
    }
}
