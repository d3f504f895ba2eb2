/// The SQL of this folder, compiled in.
package enum LedgerSchema {
    /// One step of the schema. Released steps are never edited: a change is a new step.
    package struct Migration: Sendable {
        package let number: Int64
        package let name: String
        /// The files in the order in which they are run.
        package let files: [[UInt8]]

        /// All files in one text, which is run and checksummed as a whole.
        package var script: [UInt8] { Array(files.joined(separator: [UInt8(ascii: "\n")])) }
    }

    package static let migrations = [
        Migration(
            number: 1, name: "ledger",
            files: [
                PackageResources.roles_sql,
                PackageResources.natural_number_sql,
                PackageResources.positive_number_sql,
                PackageResources.sha256_sql,
                PackageResources.lanes_sql,
                PackageResources.events_sql,
                PackageResources.events_are_immutable_sql,
                PackageResources.accounts_sql,
                PackageResources.purchases_sql,
                PackageResources.app_account_tokens_sql,
                PackageResources.purchase_attempts_sql,
                PackageResources.api_keys_sql,
                PackageResources.older_lots_sql,
                PackageResources.number_at_sql,
                PackageResources.open_lots_sql,
                PackageResources.lots_sql,
                PackageResources.spend_reversals_sql,
                PackageResources.orders_sql,
                PackageResources.idempotency_answers_sql,
                PackageResources.store_notifications_sql,
                PackageResources.create_lanes_sql,
                PackageResources.new_event_sql,
                PackageResources.changed_account_sql,
                PackageResources.claimed_purchase_sql,
                PackageResources.older_lot_sql,
                PackageResources.changed_lot_sql,
                PackageResources.new_answer_sql,
                PackageResources.append_events_sql,
                PackageResources.forget_answers_sql,
                PackageResources.record_purchase_attempts_sql,
                PackageResources.forget_purchase_attempts_sql,
                PackageResources.create_api_key_sql,
                PackageResources.revoke_api_key_sql,
                PackageResources.record_notification_sql,
                PackageResources.claim_notifications_sql,
                PackageResources.end_notification_sql,
                PackageResources.end_notification_unclaimed_sql,
                PackageResources.postpone_notification_sql,
                PackageResources.retry_dead_notification_sql,
                PackageResources.retry_unclaimed_notifications_sql,
                PackageResources.forget_notifications_sql,
                PackageResources.events_as_json_sql,
                PackageResources.grants_sql,
            ])
    ]
}
