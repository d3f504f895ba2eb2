import Postgres

extension Statements {
    private static let notificationColumns =
        """
        number, notification_uuid, environment, type, subtype, signed_at, received_at,
        transaction_id, original_transaction_id, product_id, app_account_token, signed_payload,
        state, attempts, next_attempt_at, outcome, detail, ended_at
        """

    static let recordNotification = PostgresStatement(
        "record_notification",
        "SELECT coinledger.record_notification($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)")

    static let claimNotifications = PostgresStatement(
        "claim_notifications",
        "SELECT \(notificationColumns) FROM coinledger.claim_notifications($1, $2, $3)")

    static let endNotification = PostgresStatement(
        "end_notification", "SELECT coinledger.end_notification($1, $2, $3, $4, $5)")

    static let endNotificationUnclaimed = PostgresStatement(
        "end_notification_unclaimed", "SELECT coinledger.end_notification_unclaimed($1, $2)")

    static let postponeNotification = PostgresStatement(
        "postpone_notification", "SELECT coinledger.postpone_notification($1, $2, $3)")

    static let retryDeadNotification = PostgresStatement(
        "retry_dead_notification", "SELECT coinledger.retry_dead_notification($1, $2)")

    static let retryUnclaimedNotifications = PostgresStatement(
        "retry_unclaimed_notifications", "SELECT coinledger.retry_unclaimed_notifications($1, $2)")

    static let forgetNotifications = PostgresStatement(
        "forget_notifications", "SELECT coinledger.forget_notifications($1, $2)")

    static let notification = PostgresStatement(
        "notification",
        """
        SELECT \(notificationColumns) FROM coinledger.store_notifications
        WHERE notification_uuid = $1
        """)

    static let notificationsInState = PostgresStatement(
        "notifications_in_state",
        """
        SELECT \(notificationColumns) FROM coinledger.store_notifications
        WHERE state = $1 AND number > $2 ORDER BY number LIMIT $3
        """)

    /// One search for each of the two ids that a transaction may be known by.
    static let notificationsOfTransaction = PostgresStatement(
        "notifications_of_transaction",
        """
        SELECT \(notificationColumns) FROM (
            SELECT * FROM coinledger.store_notifications WHERE transaction_id = $1
            UNION ALL
            SELECT * FROM coinledger.store_notifications
            WHERE original_transaction_id = $1 AND transaction_id <> $1
        ) AS found
        ORDER BY number LIMIT $2
        """)
}
