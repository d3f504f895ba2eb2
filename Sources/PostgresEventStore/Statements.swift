import EventStore
import Postgres

/// Every statement that the store sends.
enum Statements {
    static let laneCount = PostgresStatement(
        "lane_count", "SELECT count(*) FROM coinledger.lanes")

    static let isReadOnly = PostgresStatement(
        "is_read_only", "SELECT current_setting('transaction_read_only') = 'on'")

    static let head = PostgresStatement(
        "head", "SELECT position FROM coinledger.lanes WHERE lane = $1")

    static let heads = PostgresStatement(
        "heads", "SELECT lane, position FROM coinledger.lanes ORDER BY lane")

    private static let accountColumns =
        "account, version, paid, free, sandbox_paid, sandbox_free, lot_count"

    static let accounts = PostgresStatement(
        "accounts",
        "SELECT \(accountColumns) FROM coinledger.accounts WHERE account = ANY($1)")

    static let laneAccounts = PostgresStatement(
        "lane_accounts",
        """
        SELECT \(accountColumns) FROM coinledger.accounts
        WHERE lane = $1 AND account > $2 ORDER BY account LIMIT $3
        """)

    static let claims = PostgresStatement(
        "claims",
        """
        SELECT purchases.transaction_id, purchases.environment, purchases.store,
            purchases.account, events.lane, events.position, events.command, events.payload
        FROM coinledger.purchases
        JOIN coinledger.events USING (lane, position)
        WHERE purchases.transaction_id = ANY($1)
        """)

    static let tokenOwners = PostgresStatement(
        "token_owners",
        "SELECT token, account FROM coinledger.app_account_tokens WHERE token = ANY($1)")

    static let append = PostgresStatement(
        "append",
        "SELECT coinledger.append_events("
            + (1...AppendParameters.count).map { "$\($0)" }.joined(separator: ", ") + ")")

    private static let eventColumns =
        """
        lane, position, account, version, command, occurred_at, recorded_at, type, schema_version,
        payload
        """

    static let accountEvents = PostgresStatement(
        "account_events",
        """
        SELECT \(eventColumns) FROM coinledger.events
        WHERE account = $1 AND lane = $2 AND version > $3 ORDER BY version LIMIT $4
        """)

    static let laneEvents = PostgresStatement(
        "lane_events",
        """
        SELECT \(eventColumns) FROM coinledger.events
        WHERE lane = $1 AND position > $2 ORDER BY position LIMIT $3
        """)

    static let laneGrants = PostgresStatement(
        "lane_grants",
        """
        SELECT \(eventColumns) FROM coinledger.events
        WHERE lane = $1 AND position > $2 AND position <= $3
            AND type = '\(EventCodec.coinsGrantedType)'
        ORDER BY position
        """)

    static let recordRefusal = PostgresStatement(
        "record_refusal",
        "SELECT coinledger.record_purchase_refusal($1, $2, $3, $4, $5, $6, $7)")

    static let apiKeys = PostgresStatement(
        "api_keys",
        """
        SELECT id, name, scopes, secret_sha256, created_at, revoked_at FROM coinledger.api_keys
        ORDER BY created_at, id
        """)

    static let createAPIKey = PostgresStatement(
        "create_api_key", "SELECT coinledger.create_api_key($1, $2, $3, $4, $5)")

    static let revokeAPIKey = PostgresStatement(
        "revoke_api_key", "SELECT coinledger.revoke_api_key($1, $2)")

    static let lotCheckpoint = PostgresStatement(
        "lot_checkpoint",
        """
        SELECT position FROM coinledger.projection_checkpoints
        WHERE projection = 'lots' AND lane = $1
        """)

    static let projectLots = PostgresStatement(
        "project_lots",
        "SELECT coinledger.project_lots($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)")

    static let lots = PostgresStatement(
        "lots",
        """
        SELECT account, number, position, environment, kind, coins, remaining, granted_at,
            expires_at, store, transaction_id
        FROM coinledger.lots
        WHERE lane = $1 AND (account, number) > ($2, $3) ORDER BY account, number LIMIT $4
        """)
}
