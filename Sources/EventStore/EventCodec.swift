import Base
package import CoinLedger

/// Turns events into the payloads they are stored as, and back.
///
/// Names and payloads are for ever: a change of a payload is a new schema version, and reading the
/// old one stays here.
package enum EventCodec {
    /// The stored names of events.
    package enum EventType: String, Hashable, Sendable, CaseIterable {
        case purchaseRecorded = "PurchaseRecorded"
        case coinsGranted = "CoinsGranted"
        case appAccountTokenLinked = "AppAccountTokenLinked"
        case coinsSpent = "CoinsSpent"
        case spendReversed = "SpendReversed"
        case coinsExpired = "CoinsExpired"
        case coinsAdjusted = "CoinsAdjusted"
        case coinsHeld = "CoinsHeld"
        case holdReleased = "HoldReleased"
        case purchaseRefunded = "PurchaseRefunded"
        case refundReversed = "RefundReversed"
        case debtPaid = "DebtPaid"
        case refundRemembered = "RefundRemembered"
        case consentRecorded = "ConsentRecorded"
        case orderRecorded = "OrderRecorded"
    }

    package struct Encoded: Sendable {
        package let type: String
        package let schemaVersion: Int64
        package let payload: [UInt8]

        init(_ type: EventType, _ payload: [UInt8]) {
            self.type = type.rawValue
            schemaVersion = 1
            self.payload = payload
        }
    }

    /// A payload that no event of that type and schema version has.
    package struct Unreadable: Error, Hashable, Sendable {
        package let type: String
        package let schemaVersion: Int64
        package let reason: String
    }

    package static func encode(_ event: Event) -> Encoded {
        switch event {
        case .purchaseRecorded(let event): Encoded(.purchaseRecorded, payload(event))
        case .coinsGranted(let event): Encoded(.coinsGranted, payload(event))
        case .appAccountTokenLinked(let token): Encoded(.appAccountTokenLinked, payload(token))
        case .coinsSpent(let event): Encoded(.coinsSpent, payload(event))
        case .spendReversed(let event): Encoded(.spendReversed, payload(event))
        case .coinsExpired(let event): Encoded(.coinsExpired, payload(event))
        case .coinsAdjusted(let event): Encoded(.coinsAdjusted, payload(event))
        case .coinsHeld(let event): Encoded(.coinsHeld, payload(event))
        case .holdReleased(let event): Encoded(.holdReleased, payload(event))
        case .purchaseRefunded(let event): Encoded(.purchaseRefunded, payload(event))
        case .refundReversed(let event): Encoded(.refundReversed, payload(event))
        case .debtPaid(let event): Encoded(.debtPaid, payload(event))
        case .refundRemembered(let event): Encoded(.refundRemembered, payload(event))
        case .consentRecorded(let event): Encoded(.consentRecorded, payload(event))
        case .orderRecorded(let event): Encoded(.orderRecorded, payload(event))
        }
    }

    package static func decode(_ stored: StoredEvent) throws(Unreadable) -> Event {
        try readable(stored.type, stored.schemaVersion) { () throws(PayloadError) -> Event in
            let payload = try Payload(stored.payload)
            guard stored.schemaVersion == 1, let type = EventType(rawValue: stored.type) else {
                throw .malformed("no such type and schema version")
            }
            return try decode(type, payload)
        }
    }

    private static func decode(
        _ type: EventType, _ payload: Payload
    ) throws(PayloadError) -> Event {
        switch type {
        case .purchaseRecorded: .purchaseRecorded(try purchaseRecorded(payload))
        case .coinsGranted: .coinsGranted(try coinsGranted(payload))
        case .appAccountTokenLinked:
            .appAccountTokenLinked(try payload.value("appAccountToken", AppAccountToken.init))
        case .coinsSpent: .coinsSpent(try coinsSpent(payload))
        case .spendReversed: .spendReversed(try spendReversed(payload))
        case .coinsExpired: .coinsExpired(try coinsExpired(payload))
        case .coinsAdjusted: .coinsAdjusted(try coinsAdjusted(payload))
        case .coinsHeld: .coinsHeld(try coinsHeld(payload))
        case .holdReleased: .holdReleased(try holdReleased(payload))
        case .purchaseRefunded: .purchaseRefunded(try purchaseRefunded(payload))
        case .refundReversed: .refundReversed(try refundReversed(payload))
        case .debtPaid: .debtPaid(try debtPaid(payload))
        case .refundRemembered: .refundRemembered(try refundRemembered(payload))
        case .consentRecorded: .consentRecorded(try consentRecorded(payload))
        case .orderRecorded: .orderRecorded(try orderRecorded(payload))
        }
    }

    /// The payload of a `CoinsGranted` alone, as a claim on a purchase points at it.
    package static func coinsGranted(_ payload: [UInt8]) throws(Unreadable) -> CoinsGranted {
        try readable(EventType.coinsGranted.rawValue, 1) { () throws(PayloadError) in
            try coinsGranted(try Payload(payload))
        }
    }

    /// The payload of a `RefundRemembered` alone, as a purchase that nobody has points at it.
    package static func refundRemembered(
        _ payload: [UInt8]
    ) throws(Unreadable) -> RefundWord {
        try readable(EventType.refundRemembered.rawValue, 1) { () throws(PayloadError) in
            try refundRemembered(try Payload(payload))
        }
    }

    private static func readable<Value>(
        _ type: String, _ schemaVersion: Int64, _ read: () throws(PayloadError) -> Value
    ) throws(Unreadable) -> Value {
        do throws(PayloadError) {
            return try read()
        } catch {
            switch error {
            case .malformed(let reason):
                throw Unreadable(type: type, schemaVersion: schemaVersion, reason: reason)
            }
        }
    }
}

extension StoredEvent {
    /// The event itself.
    package func decoded() throws(EventStoreError) -> Event {
        do throws(EventCodec.Unreadable) {
            return try EventCodec.decode(self)
        } catch {
            throw .corrupt("event \(id): \(error)")
        }
    }
}
