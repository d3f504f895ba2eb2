package import CoinLedger
package import EventStore
import Postgres

extension PostgresEventStore: NotificationStore {
    package func record(
        _ notification: ReceivedNotification
    ) async throws(EventStoreError) -> Bool {
        let transaction = notification.transaction
        let parameters: [PostgresValue] = [
            .text(notification.id.text), .text(notification.environment.rawValue),
            .text(notification.type), .optional(notification.subtype),
            .instant(notification.signedAt),
            .instant(notification.receivedAt), .optional(transaction?.id.text),
            .optional(transaction?.originalID.text), .optional(transaction?.productID),
            .optional(transaction?.appAccountToken?.text), .bytea(notification.signedPayload),
        ]
        return try await reading { () throws(PostgresError) -> Bool in
            try await notifications.execute(Statements.recordNotification, parameters).bool(0, 0)
        }
    }

    package func claimNotifications(
        due time: Timestamp, leaseEnd: Timestamp, limit: Int
    ) async throws(EventStoreError) -> [KeptNotification] {
        try await reading { () throws(PostgresError) -> [KeptNotification] in
            let rows = try await notifications.execute(
                Statements.claimNotifications,
                [.instant(time), .instant(leaseEnd), .int8(Int64(limit))])
            return try KeptNotification.all(rows).sorted {
                $0.received.signedAt < $1.received.signedAt
            }
        }
    }

    package func end(
        _ id: NotificationID, _ ending: NotificationEnding, at time: Timestamp
    ) async throws(EventStoreError) {
        try await reading { () throws(PostgresError) in
            _ = try await notifications.execute(
                Statements.endNotification,
                [
                    .text(id.text), .text(ending.state.rawValue), .text(ending.outcome),
                    .optional(ending.detail), .instant(time),
                ])
        }
    }

    package func endUnclaimed(
        _ id: NotificationID, at time: Timestamp
    ) async throws(EventStoreError) -> Bool {
        try await reading { () throws(PostgresError) -> Bool in
            try await notifications.execute(
                Statements.endNotificationUnclaimed, [.text(id.text), .instant(time)]
            ).bool(0, 0)
        }
    }

    package func postpone(
        _ id: NotificationID, until time: Timestamp, detail: String?
    ) async throws(EventStoreError) {
        try await reading { () throws(PostgresError) in
            _ = try await notifications.execute(
                Statements.postponeNotification,
                [.text(id.text), .instant(time), .optional(detail)])
        }
    }

    package func retryDeadNotification(
        _ id: NotificationID, at time: Timestamp
    ) async throws(EventStoreError) -> Bool {
        try await reading { () throws(PostgresError) -> Bool in
            try await notifications.execute(
                Statements.retryDeadNotification, [.text(id.text), .instant(time)]
            ).bool(0, 0)
        }
    }

    package func retryUnclaimedNotifications(
        of token: AppAccountToken, at time: Timestamp
    ) async throws(EventStoreError) -> Int {
        try await reading { () throws(PostgresError) -> Int in
            let rows = try await notifications.execute(
                Statements.retryUnclaimedNotifications, [.text(token.text), .instant(time)])
            return Int(try rows.int8(0, 0))
        }
    }

    package func forgetNotifications(
        doneBefore time: Timestamp, limit: Int
    ) async throws(EventStoreError) -> Int {
        try await reading { () throws(PostgresError) -> Int in
            let rows = try await background.execute(
                Statements.forgetNotifications, [.instant(time), .int8(Int64(limit))])
            return Int(try rows.int8(0, 0))
        }
    }

    package func notification(
        _ id: NotificationID
    ) async throws(EventStoreError) -> KeptNotification? {
        try await notifications(Statements.notification, [.text(id.text)]).first
    }

    package func notifications(
        in state: NotificationState, after number: Int64, limit: Int
    ) async throws(EventStoreError) -> [KeptNotification] {
        try await notifications(
            Statements.notificationsInState,
            [.text(state.rawValue), .int8(number), .int8(Int64(limit))])
    }

    package func notifications(
        of transaction: TransactionID, limit: Int
    ) async throws(EventStoreError) -> [KeptNotification] {
        try await notifications(
            Statements.notificationsOfTransaction,
            [.text(transaction.text), .int8(Int64(limit))])
    }

    package func owner(of token: AppAccountToken) async throws(EventStoreError) -> AccountID? {
        try await reading { () throws(PostgresError) -> AccountID? in
            let query = (Statements.tokenOwners, [PostgresValue.textArray([token.text])])
            let rows = try await notifications.read([query])[0]
            return rows.count == 0 ? nil : try rows.account(0, 1)
        }
    }

    private func notifications(
        _ statement: PostgresStatement, _ parameters: [PostgresValue]
    ) async throws(EventStoreError) -> [KeptNotification] {
        try await reading { () throws(PostgresError) -> [KeptNotification] in
            try KeptNotification.all(try await readers.read([(statement, parameters)])[0])
        }
    }
}

extension PostgresValue {
    fileprivate static func optional(_ text: String?) -> PostgresValue {
        text.map(PostgresValue.text) ?? .null
    }

    fileprivate static func instant(_ time: Timestamp) -> PostgresValue {
        .timestamptz(milliseconds: time.milliseconds)
    }
}

extension KeptNotification {
    fileprivate static func all(
        _ rows: PostgresRows
    ) throws(PostgresError) -> [KeptNotification] {
        var notifications: [KeptNotification] = []
        notifications.reserveCapacity(rows.count)
        for row in 0..<rows.count { notifications.append(try KeptNotification(rows, row)) }
        return notifications
    }

    private init(_ rows: PostgresRows, _ row: Int) throws(PostgresError) {
        self.init(
            number: try rows.int8(row, 0),
            received: ReceivedNotification(
                id: try rows.value(row, 1, NotificationID.init),
                environment: try rows.value(row, 2, Environment.init(rawValue:)),
                type: try rows.text(row, 3), subtype: try rows.optionalText(row, 4),
                signedAt: try rows.instant(row, 5), receivedAt: try rows.instant(row, 6),
                transaction: try NotifiedTransaction(rows, row),
                signedPayload: try rows.bytes(row, 11)),
            state: try rows.value(row, 12, NotificationState.init(rawValue:)),
            attempts: try rows.int8(row, 13), nextAttemptAt: try rows.instant(row, 14),
            outcome: try rows.optionalText(row, 15), detail: try rows.optionalText(row, 16),
            endedAt: try rows.optionalInstant(row, 17))
    }
}

extension NotifiedTransaction {
    fileprivate init?(_ rows: PostgresRows, _ row: Int) throws(PostgresError) {
        guard try !rows.isNull(row, 7) else { return nil }
        self.init(
            id: try rows.value(row, 7, TransactionID.init),
            originalID: try rows.value(row, 8, TransactionID.init),
            productID: try rows.text(row, 9),
            appAccountToken: try rows.isNull(row, 10)
                ? nil : rows.value(row, 10, AppAccountToken.init))
    }
}
