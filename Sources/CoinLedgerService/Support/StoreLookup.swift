package import AppStore
package import AppStoreConnection
import CoinLedger
import Telemetry

/// What the support desk asks the App Store for.
package struct StoreLookup: Sendable {
    let transaction:
        @Sendable (String) async throws(AppStoreServerError) -> (
            signed: String, environment: StoreEnvironment
        )
    let order: @Sendable (String) async throws(AppStoreServerError) -> OrderLookup

    package init(_ client: AppStoreServerClient) {
        self.init(
            transaction: { (id) async throws(AppStoreServerError) in
                try await client.transaction(id)
            },
            order: { (id) async throws(AppStoreServerError) in try await client.order(id) })
    }

    package init(
        transaction:
            @escaping @Sendable (String) async throws(AppStoreServerError) -> (
                signed: String, environment: StoreEnvironment
            ),
        order: @escaping @Sendable (String) async throws(AppStoreServerError) -> OrderLookup
    ) {
        self.transaction = transaction
        self.order = order
    }

    /// Why nothing was found out.
    package enum Failure: Error, Hashable, Sendable {
        /// The service has no key to ask the store with.
        case notConfigured
        /// The store knows nothing of it.
        case notFound
        /// The store takes the question for wrong.
        case refused
        /// The store doesn't accept the service's key.
        case unauthorized
        /// The store gave no usable answer.
        case unavailable
        /// What the store answered isn't signed by it, or is about something else.
        case notTrusted(code: String)
        /// A certificate that vouches for it was taken back by its authority.
        case certificateRevoked
        /// Whether that's so can't be found out now, and has to be known.
        case revocationUnknown
        /// There is such a purchase, but nobody knows whose it is.
        case ownerUnknown
        case overloaded
        case ledgerUnavailable

        init(_ error: AppStoreServerError) {
            switch error {
            case .notFound: self = .notFound
            case .refused: self = .refused
            case .unauthorized: self = .unauthorized
            case .rateLimited, .unavailable, .wrongShape: self = .unavailable
            case .overloaded: self = .overloaded
            }
        }
    }
}

extension ReceiptVerification {
    /// The transaction in what the store has answered.
    func verifyAnswer(
        _ signed: String, now: Timestamp, log: Log
    ) async throws(StoreLookup.Failure) -> StoreTransaction {
        do throws(ReceiptError) {
            guard let transaction = try await verify(signed, now: now).first else {
                throw .noTransaction
            }
            return transaction
        } catch {
            log.warning("the store's answer isn't used", ["error": "\(error)"])
            switch error {
            case .wrongShape(let code, _), .notTrusted(let code, _):
                throw .notTrusted(code: code)
            case .rejectedByStore, .noTransaction:
                throw .notTrusted(code: "transaction_not_in_receipt")
            case .certificateRevoked: throw .certificateRevoked
            case .revocationUnknown: throw .revocationUnknown
            case .storeUnavailable: throw .unavailable
            case .overloaded: throw .overloaded
            case .ledgerUnavailable: throw .ledgerUnavailable
            }
        }
    }
}
