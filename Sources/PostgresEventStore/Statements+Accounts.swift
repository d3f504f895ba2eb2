import Postgres

/// Account states, balances and lots.
extension Statements {
    /// An account's own row, then one for each open lot: in one statement, so that they belong
    /// together.
    private static let stateColumns =
        """
        account, version, lot_count, details, NULL::bigint AS number, NULL::text AS environment,
        NULL::text AS kind, NULL::bigint AS coins, NULL::bigint AS remaining,
        NULL::bigint AS value_out, NULL::timestamptz AS expires_at,
        NULL::bigint AS price_milliunits, NULL::text AS currency
        """

    private static let openLotColumns =
        """
        account, NULL::bigint, NULL::bigint, NULL::bytea, number, environment, kind, coins,
        remaining, value_out, expires_at, price_milliunits, currency
        """

    static let accounts = PostgresStatement(
        "accounts",
        """
        SELECT \(stateColumns) FROM coinledger.accounts WHERE account = ANY ($1)
        UNION ALL
        SELECT \(openLotColumns) FROM coinledger.lots WHERE account = ANY ($1) AND is_open
        """)

    static let accountsWithoutLots = PostgresStatement(
        "accounts_without_lots",
        """
        SELECT account, version, lot_count, details, paid, free, sandbox_paid, sandbox_free,
            next_expiry, sandbox_next_expiry
        FROM coinledger.accounts
        WHERE account = ANY ($1)
        """)

    static let laneAccounts = PostgresStatement(
        "lane_accounts",
        """
        WITH page AS MATERIALIZED (
            SELECT account, version, lot_count, details FROM coinledger.accounts
            WHERE lane = $1 AND account > $2 ORDER BY account LIMIT $3
        )
        SELECT \(stateColumns) FROM page
        UNION ALL
        SELECT open_lots.* FROM page CROSS JOIN LATERAL (
            SELECT \(openLotColumns) FROM coinledger.lots
            WHERE lots.account = page.account AND is_open
            OFFSET 0
        ) AS open_lots
        """)

    private static let lotColumns =
        """
        lots.account, lots.number, lots.lane, lots.position, lots.environment, lots.kind,
        lots.coins, lots.remaining, lots.granted_at, lots.expires_at, lots.price_milliunits,
        lots.currency, lots.value_out, lots.source, lots.store, lots.transaction_id,
        lots.campaign_id, lots.ticket_id
        """

    /// The key has an account's open and closed lots apart.
    private static func lotsOfAccount(
        _ half: String, _ account: String, after number: String, limit: String
    ) -> String {
        """
        SELECT \(lotColumns) FROM coinledger.lots
        WHERE account = \(account) AND \(half) AND number > \(number) ORDER BY number LIMIT \(limit)
        """
    }

    static let accountLots = PostgresStatement(
        "account_lots",
        """
        (\(lotsOfAccount("is_open", "$1", after: "$2", limit: "$3")))
        UNION ALL
        (\(lotsOfAccount("NOT is_open", "$1", after: "$2", limit: "$3")))
        ORDER BY number LIMIT $3
        """)

    static let openAccountLots = PostgresStatement(
        "open_account_lots",
        lotsOfAccount("is_open", "$1", after: "$2", limit: "$3"))

    /// The rest of one account's lots, then those of the accounts after it. By their numbers in both
    /// cases, which never change, since a lot may be opened or closed between two pages.
    static let laneLots = PostgresStatement(
        "lane_lots",
        """
        (\(lotsOfAccount("is_open AND lane = $1", "$2", after: "$3", limit: "$4")))
        UNION ALL
        (\(lotsOfAccount("NOT is_open AND lane = $1", "$2", after: "$3", limit: "$4")))
        UNION ALL
        (
            SELECT \(lotColumns) FROM coinledger.lots
            WHERE lane = $1 AND account > $2 ORDER BY account, number LIMIT $4
        )
        ORDER BY account, number LIMIT $4
        """)

    static let lots = PostgresStatement(
        "lots",
        """
        SELECT lots.*
        FROM unnest($1::text[], $2::bigint[]) AS wanted (account, number)
        CROSS JOIN (VALUES (true), (false)) AS half (is_open)
        CROSS JOIN LATERAL (
            SELECT \(lotColumns) FROM coinledger.lots
            WHERE lots.account = wanted.account AND lots.is_open = half.is_open
                AND lots.number = wanted.number
            OFFSET 0
        ) AS lots
        """)

    /// The lots that expired first, whose accounts may be the same.
    static let expiredLots = PostgresStatement(
        "expired_lots",
        """
        SELECT account FROM coinledger.lots
        WHERE lane = $1 AND expires_at <= $2 AND is_open AND expires_at IS NOT NULL
        ORDER BY expires_at LIMIT $3
        """)
}
