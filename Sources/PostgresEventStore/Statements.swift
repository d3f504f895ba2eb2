import Postgres

/// Every statement that the store sends.
enum Statements {
    /// How many lanes there are, and the types of which `AppendTypes` is made.
    static let ledger = PostgresStatement(
        "ledger",
        "SELECT (SELECT count(*) FROM coinledger.lanes), "
            + AppendTypes.names.map { "'coinledger.\($0)'::regtype::oid::bigint" }
            .joined(separator: ", "))

    static let isReadOnly = PostgresStatement(
        "is_read_only", "SELECT current_setting('transaction_read_only') = 'on'")

    static let head = PostgresStatement(
        "head", "SELECT position, batch FROM coinledger.lanes WHERE lane = $1")

    static let heads = PostgresStatement(
        "heads", "SELECT lane, position FROM coinledger.lanes ORDER BY lane")

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

    static let reversals = PostgresStatement(
        "reversals",
        """
        SELECT spend.lane, spend.position, reversal.lane, reversal.position
        FROM unnest($1::bigint[], $2::bigint[]) AS spend (lane, position)
        CROSS JOIN LATERAL (
            SELECT lane, position FROM coinledger.spend_reversals
            WHERE spend_lane = spend.lane AND spend_position = spend.position
            OFFSET 0
        ) AS reversal
        """)

    static let orders = PostgresStatement(
        "orders",
        "SELECT order_id, lane, position FROM coinledger.orders WHERE order_id = ANY($1)")

    static let answers = PostgresStatement(
        "answers",
        """
        SELECT wanted.account, wanted.key, answer.request_sha256, answer.status, answer.body,
            answer.recorded_at
        FROM unnest($1::text[], $2::text[]) AS wanted (account, key)
        CROSS JOIN LATERAL (
            SELECT request_sha256, status, body, recorded_at FROM coinledger.idempotency_answers
            WHERE account = wanted.account AND key = wanted.key
            OFFSET 0
        ) AS answer
        """)

    static let forgetAnswers = PostgresStatement(
        "forget_answers", "SELECT coinledger.forget_answers($1, $2)")

    /// The key of a lane's turn, which `append_events` shares; the first half is "coin".
    private static let turn = "(1668246894, $1::int4)"

    static let takeTurn = PostgresStatement("take_turn", "SELECT pg_advisory_lock\(turn)")

    static let endTurn = PostgresStatement("end_turn", "SELECT pg_advisory_unlock\(turn)")

    static let append = PostgresStatement(
        "append",
        "SELECT coinledger.append_events("
            + (1...AppendParameters.count).map { "$\($0)" }.joined(separator: ", ") + ")")

    static let eventColumns =
        """
        lane, position, account, version, command, occurred_at, recorded_at, type, schema_version,
        payload
        """

    static let event = PostgresStatement(
        "event",
        "SELECT \(eventColumns) FROM coinledger.events WHERE lane = $1 AND position = $2")

    static let orderEvent = PostgresStatement(
        "order_event",
        """
        SELECT \(eventColumns) FROM coinledger.orders
        JOIN coinledger.events USING (lane, position)
        WHERE order_id = $1
        """)

    static let accountEvents = PostgresStatement(
        "account_events",
        """
        SELECT \(eventColumns) FROM coinledger.events
        WHERE account = $1 AND lane = $2 AND version > $3 ORDER BY version LIMIT $4
        """)

    static let filteredAccountEvents = PostgresStatement(
        "filtered_account_events",
        """
        SELECT \(eventColumns) FROM coinledger.events
        WHERE account = $1 AND lane = $2 AND version > $3
            AND ($5::text[] IS NULL OR type = ANY ($5::text[]))
            AND ($6::timestamptz IS NULL OR recorded_at >= $6::timestamptz)
            AND ($7::timestamptz IS NULL OR recorded_at < $7::timestamptz)
        ORDER BY version LIMIT $4
        """)

    static let laneEvents = PostgresStatement(
        "lane_events",
        """
        SELECT \(eventColumns) FROM coinledger.events
        WHERE lane = $1 AND position > $2 ORDER BY position LIMIT $3
        """)

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
}
