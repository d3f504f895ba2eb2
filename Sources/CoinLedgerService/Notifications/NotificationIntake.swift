package import AppStore
package import CoinLedger
package import EventStore
package import Telemetry

/// Takes notifications in: verifies them, asks whether their certificates were revoked, and keeps
/// them. What they say is done later, by `NotificationProcessor`, so that the store never waits for
/// it.
package struct NotificationIntake: Sendable {
    private let verification: NotificationVerification
    private let revocation: RevocationCheck?
    private let store: any NotificationStore
    private let apps: NotifiedApps
    private let bell: NotificationBell
    private let clock: @Sendable () -> Timestamp
    private let telemetry: NotificationTelemetry
    private let log: Log

    /// - Parameters:
    ///   - revocation: asked about the certificates of what was verified; nobody is if there's none.
    ///   - bell: is rung for each notification that's new.
    package init(
        verification: NotificationVerification, revocation: RevocationCheck? = nil,
        store: any NotificationStore, apps: NotifiedApps, bell: NotificationBell,
        clock: @escaping @Sendable () -> Timestamp, telemetry: NotificationTelemetry, log: Log
    ) {
        self.verification = verification
        self.revocation = revocation
        self.store = store
        self.apps = apps
        self.bell = bell
        self.clock = clock
        self.telemetry = telemetry
        self.log = log
    }

    package enum Result: String, Hashable, Sendable {
        /// It's kept, and will be acted on.
        case accepted
        /// It has been received before.
        case duplicate
        /// It's genuine, but of another app or environment; it isn't kept.
        case ignored
    }

    package enum Failure: Error, Hashable, Sendable {
        case untrusted(SignedNotificationError)
        /// Whether a certificate was revoked can't be found out now, and has to be known.
        case revocationUnknown
        /// More work waits than is allowed.
        case overloaded
        /// The ledger takes no writes now.
        case unavailable
    }

    /// Keeps the notification, durably, before it returns.
    package func accept(_ signedPayload: String) async throws(Failure) -> Result {
        do throws(Failure) {
            let result = try await take(signedPayload)
            telemetry.received.increment(result.rawValue)
            return result
        } catch {
            telemetry.received.increment(error.code)
            throw error
        }
    }

    private func take(_ signedPayload: String) async throws(Failure) -> Result {
        let now = clock()
        let verified = try await verify(signedPayload, now)
        guard let environment = apps.environment(of: verified.notification) else {
            note(ignored: verified.notification)
            return .ignored
        }
        let received = try ReceivedNotification(verified, environment, now, signedPayload)
        do throws(EventStoreError) {
            guard try await store.record(received) else { return .duplicate }
        } catch {
            log.error("notification not kept", ["error": "\(error)"])
            throw .unavailable
        }
        bell.ring()
        return .accepted
    }

    private func verify(
        _ signedPayload: String, _ now: Timestamp
    ) async throws(Failure) -> VerifiedNotification {
        let verified: VerifiedNotification
        do throws(NotificationVerification.Failure) {
            verified = try await verification.verify(signedPayload, now: now)
        } catch {
            switch error {
            case .untrusted(let reason): throw .untrusted(reason)
            case .overloaded: throw .overloaded
            }
        }
        guard let revocation else { return verified }
        do throws(RevocationCheck.Failure) {
            try await revocation.check(verified.paths)
        } catch {
            switch error {
            case .revoked: throw .untrusted(.certificateRevoked)
            case .unknown: throw .revocationUnknown
            }
        }
        return verified
    }

    private func note(ignored notification: StoreNotification) {
        log.warning(
            "notification of another app ignored",
            [
                "notification.id": notification.uuid, "notification.type": notification.type,
                "app.bundle": notification.bundleID,
                "app.id": notification.appAppleID.map { "\($0)" } ?? "",
                "environment": notification.environment.text,
            ])
    }
}

/// Whose notifications are taken.
package struct NotifiedApps: Sendable {
    private let bundleIDs: @Sendable () -> [String]
    private let appIDs: Set<Int64>

    /// - Parameters:
    ///   - bundleIDs: answers those of the catalogue in force.
    ///   - appIDs: the apps' numbers in the store, which states them in production alone; none for
    ///     any.
    package init(bundleIDs: @escaping @Sendable () -> [String], appIDs: Set<Int64>) {
        self.bundleIDs = bundleIDs
        self.appIDs = appIDs
    }

    /// The environment of a notification of one of them; nil for other apps and environments.
    func environment(of notification: StoreNotification) -> Environment? {
        guard bundleIDs().contains(notification.bundleID) else { return nil }
        switch notification.environment {
        case .production:
            let isKnown = notification.appAppleID.map(appIDs.contains) ?? false
            return appIDs.isEmpty || isKnown ? .production : nil
        case .sandbox: return .sandbox
        case .xcode, .localTesting, .other: return nil
        }
    }
}

extension NotificationIntake.Failure {
    fileprivate var code: String {
        switch self {
        case .untrusted(let error): error.code
        case .revocationUnknown: "revocation_unknown"
        case .overloaded: "overloaded"
        case .unavailable: "unavailable"
        }
    }
}

extension ReceivedNotification {
    /// - Throws: if the ledger can't hold one of its ids or dates, which only a signer gone wrong
    ///   could write.
    fileprivate init(
        _ verified: VerifiedNotification, _ environment: Environment, _ now: Timestamp,
        _ signedPayload: String
    ) throws(NotificationIntake.Failure) {
        let notification = verified.notification
        guard let id = NotificationID(notification.uuid),
            let signedAt = Timestamp(milliseconds: notification.signedDate)
        else { throw .untrusted(.notification(.malformedPayload(field: ""))) }
        self.init(
            id: id, environment: environment, type: notification.type,
            subtype: notification.subtype, signedAt: signedAt, receivedAt: now,
            transaction: try verified.transaction.map {
                transaction throws(NotificationIntake.Failure) in
                guard let notified = NotifiedTransaction(transaction) else {
                    throw .untrusted(.transaction(.malformedPayload(field: "transactionId")))
                }
                return notified
            },
            signedPayload: Array(signedPayload.utf8))
    }
}

extension NotifiedTransaction {
    fileprivate init?(_ transaction: StoreTransaction) {
        guard let id = TransactionID(transaction.transactionID),
            let originalID = TransactionID(transaction.originalTransactionID)
        else { return nil }
        self.init(
            id: id, originalID: originalID, productID: transaction.productID,
            appAccountToken: transaction.appAccountToken.flatMap(AppAccountToken.init))
    }
}
