package import AppStore
package import AppStoreConnection
import Base
package import CoinLedger
package import EventStore
package import Telemetry

/// Answers the store's question how much of a purchase was used, for a customer who wants their money
/// back and has consented to the answer.
///
/// The answer is written down before it's sent, so that a repeated attempt says the same again.
package struct ConsumptionAnswer: Sendable {
    /// Where answers are sent.
    package struct Channel: Sendable {
        package typealias Send =
            @Sendable (ConsumptionInformation, StoreTransaction) async throws(AppStoreServerError)
            -> Void

        /// The app that may be spoken of.
        let bundleID: String
        let send: Send

        package init(bundleID: String, send: @escaping Send) {
            self.bundleID = bundleID
            self.send = send
        }
    }

    private let store: any EventStore & NotificationStore
    private let purchases: PurchaseReader
    private let preference: ConsumptionInformation.RefundPreference?
    private let channel: Channel?
    private let clock: @Sendable () -> Timestamp
    private let log: Log

    /// How long the store waits for the answer.
    package static let answerMilliseconds: Int64 = 12 * 3_600_000
    /// Between two attempts, at most.
    static let pauseMillisecondsMax: Int64 = 600_000
    /// An attempt that is under way isn't taken up by anybody else for so long.
    static let attemptMilliseconds: Int64 = 60_000

    /// - Parameters:
    ///   - preference: what we would like the store to decide; nil for nothing.
    ///   - channel: nil where the App Store Server API can't be asked.
    package init(
        store: any EventStore & NotificationStore,
        preference: ConsumptionInformation.RefundPreference?, channel: Channel?,
        clock: @escaping @Sendable () -> Timestamp, log: Log
    ) {
        self.store = store
        purchases = PurchaseReader(store: store)
        self.preference = preference
        self.channel = channel
        self.clock = clock
        self.log = log
    }

    func answer(
        _ kept: KeptNotification, _ transaction: StoreTransaction
    ) async -> NotificationDecision {
        let now = clock()
        guard now < deadline(of: kept) else { return .done("too_late") }
        guard let channel, channel.bundleID == transaction.bundleID else {
            return .done("not_configured")
        }
        let information: ConsumptionInformation
        do throws(EventStoreError) {
            switch try await prepare(kept) {
            case .success(let prepared): information = prepared
            case .failure(let reason): return .done(reason.rawValue)
            }
            try await store.postpone(
                kept.id, until: now.adding(ConsumptionAnswer.attemptMilliseconds),
                detail: detail(information).text)
        } catch {
            return postponed(kept, now, reason: "ledger_unavailable")
        }
        do throws(AppStoreServerError) {
            try await channel.send(information, transaction)
            return .done("consumption_sent")
        } catch {
            log.warning(
                "consumption not sent",
                ["notification.id": kept.id, "store.error": error.code, "error": "\(error)"])
            return decision(error, kept, information)
        }
    }

    /// Why there is nothing to send.
    private enum Reason: String, Error {
        case notGranted = "not_granted"
        case noConsent = "no_consent"
    }

    private func prepare(
        _ kept: KeptNotification
    ) async throws(EventStoreError) -> Result<ConsumptionInformation, Reason> {
        guard let notified = kept.received.transaction else { return .failure(.notGranted) }
        let key = PurchaseKey(
            store: .appStore, environment: kept.received.environment, transactionID: notified.id)
        guard case .granted(let granted) = try await purchases.find(key) else {
            return .failure(.notGranted)
        }
        // It may have been withdrawn since the answer was written down.
        guard try await store.account(granted.claim.account)?.consent == true else {
            return .failure(.noConsent)
        }
        if let written = written(kept) { return .success(written) }
        let percentage = PaidConsumption(granted).percentage
        let isProratable = percentage > 0 || preference != .grantProrated
        guard
            let information = ConsumptionInformation(
                deliveryStatus: .delivered, consumptionPercentage: percentage,
                refundPreference: isProratable ? preference : nil)
        else { throw .corrupt("more of \(notified.id) was used than was granted") }
        return .success(information)
    }

    private func detail(_ information: ConsumptionInformation) -> JSONObject {
        JSONObject([.init("consumption", information.json)])
    }

    /// What an earlier attempt has written down.
    private func written(_ kept: KeptNotification) -> ConsumptionInformation? {
        guard let detail = kept.detail, let json = try? JSON.parse(Array(detail.utf8)) else {
            return nil
        }
        return json["consumption"].flatMap(ConsumptionInformation.init(json:))
    }

    private func decision(
        _ error: AppStoreServerError, _ kept: KeptNotification,
        _ information: ConsumptionInformation
    ) -> NotificationDecision {
        switch error {
        case .notFound(let code): return refused(code, information)
        case .refused(_, let code, _): return refused(code, information)
        case .unauthorized, .unavailable, .wrongShape, .overloaded, .rateLimited:
            return postponed(kept, clock(), reason: error.code)
        }
    }

    private func refused(
        _ code: Int64?, _ information: ConsumptionInformation
    ) -> NotificationDecision {
        var detail = detail(information)
        detail.append("storeCode", code.map { .integer($0) })
        return .done("store_refused", detail)
    }

    private func postponed(
        _ kept: KeptNotification, _ now: Timestamp, reason: String
    ) -> NotificationDecision {
        let pause = min(
            NotificationProcessor.backoffMilliseconds(afterAttempt: kept.attempts),
            ConsumptionAnswer.pauseMillisecondsMax)
        return .postpone(until: min(now.adding(pause), deadline(of: kept)), reason: reason)
    }

    private func deadline(of kept: KeptNotification) -> Timestamp {
        kept.received.signedAt.adding(ConsumptionAnswer.answerMilliseconds)
    }
}
