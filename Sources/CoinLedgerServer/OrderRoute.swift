import Base
import CoinLedger
import CoinLedgerAPI
import CoinLedgerService
import EventStore
import HTTPServer

/// What the store's orders hold.
extension CoinLedgerApp {
    /// - Parameter segment: percent-encoded.
    func order(_ segment: String?) async throws(InvalidRequest) -> HTTPResponse {
        // An id that can't be one names nothing.
        guard let id = segment.flatMap(Percent.decode).flatMap(OrderID.init) else {
            throw InvalidRequest(orderNotFound)
        }
        let found = try await order(named: id)
        return HTTPResponse(
            status: 200,
            json: [
                "orderId": .string(id.text), "eventId": .string(found.event.id.description),
                "lookedUpAt": .string(found.event.recordedAt.description),
                "purchases": .array(found.order.purchases.map(\.json)),
            ])
    }

    func order(named id: OrderID) async throws(InvalidRequest) -> OrderService.Order {
        let found: OrderService.Order?
        do throws(StoreLookup.Failure) {
            found = try await services.orders.find(id)
        } catch {
            throw InvalidRequest(error.problem(notFound: orderNotFound))
        }
        guard let found else { throw InvalidRequest(orderNotFound) }
        return found
    }
}

private let orderNotFound = Problem(.orderNotFound, "The store has no such order.")

extension OrderedPurchase {
    fileprivate var json: JSON {
        [
            "transactionId": .string(key.transactionID.text),
            "environment": .string(key.environment.rawValue), "productId": .string(productID),
            "purchasedAt": .string(purchasedAt.description),
        ]
    }
}

extension StoreLookup.Failure {
    /// - Parameter notFound: the problem of what the store doesn't know.
    func problem(notFound: Problem) -> Problem {
        switch self {
        case .notConfigured:
            Problem(
                .appStoreAPINotConfigured, "The service has no key for the App Store Server API.")
        case .notFound: notFound
        case .refused: Problem(.storeRefused, "The store refuses to answer this.")
        case .unauthorized:
            Problem(.storeUnauthorized, "The store doesn't accept the service's key.")
        case .unavailable, .notTrusted:
            Problem(.storeUnavailable, "The store can't be asked now.")
        case .certificateRevoked:
            Problem(
                .certificateRevoked, "A certificate that the store's answer rests on was revoked.")
        case .revocationUnknown:
            Problem(.revocationUnknown, "Whether a certificate was revoked can't be asked now.")
        case .overloaded: Problem(.overloaded, "The service has too much to do now.")
        case .ownerUnknown:
            Problem(
                .ownerUnknown, "Nobody knows whose purchase it is; name the account.",
                detail: "accountId")
        case .ledgerUnavailable: Problem(.ledgerUnavailable, "The ledger can't be reached now.")
        }
    }
}
