import AppStoreStandIn
import Base
import TestSupport

/// The App Store's notifications, as they come to a service.
extension World {
    static let notificationPath = "/v1/app-store/notifications"

    /// The request that brings a notification. It needs no key.
    func notifying(_ signedPayload: String) -> HTTPQuestion {
        let body: JSON = ["signedPayload": .string(signedPayload)]
        return HTTPQuestion(
            "POST", World.notificationPath, headers: [("Content-Type", "application/json")],
            body: body.bytes)
    }

    /// Brings one; says what was answered.
    @discardableResult
    func deliver(_ signedPayload: String, port: UInt16? = nil) throws -> HTTPAnswer {
        try ask(notifying(signedPayload), port: port)
    }

    @discardableResult
    func notify(
        _ type: String, of id: String? = nil, port: UInt16? = nil,
        _ change: (inout StandInNotification) -> Void = { _ in }
    ) throws -> HTTPAnswer {
        try deliver(shop.store.notification(type, of: id, change), port: port)
    }

    /// Brings one, and waits until nothing is pending.
    ///
    /// - Returns: what has become of the newest one.
    @discardableResult
    func deliverAndSettle(_ signedPayload: String) throws -> String? {
        _ = try deliver(signedPayload)
        return try settledOutcome()
    }

    /// Waits until nothing is pending, and says what has become of the newest notification.
    func settledOutcome(seconds: Double = 30) throws -> String? {
        guard try isSettled(within: seconds) else { return nil }
        return try ledger.rows(
            "SELECT outcome FROM coinledger.store_notifications ORDER BY number DESC LIMIT 1"
        ).first?.first
    }

    /// Waits until nothing is pending; false if something is for too long.
    func isSettled(within seconds: Double = 30) throws -> Bool {
        try eventually(seconds: seconds) {
            try ledger.count(
                "SELECT count(*) FROM coinledger.store_notifications WHERE state = 'pending'") == 0
                ? true : nil
        } ?? false
    }

    /// What the support desk asks about notifications.
    func support(_ method: String, _ path: String) throws -> HTTPAnswer {
        try ask(
            HTTPQuestion(
                method, World.notificationPath + path,
                headers: [("Authorization", "Bearer \(ledger.keys.support)")]))
    }
}
