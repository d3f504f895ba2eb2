import Postgres

/// Account states, balances and lots.
extension Statements {
    /// What a lot is, as `PostgresRows.lot` reads it.
    private static let lotColumns = "number, kind, coins, expires_at, price_milliunits, currency"

    /// A lot with where its coins are real and what is left of them.
    private static let keptLotColumns = "\(lotColumns), remaining, value_out, environment"

    /// In rows that have none.
    private static let noLotColumns =
        """
        NULL::bigint AS number, NULL::text AS kind, NULL::bigint AS coins,
        NULL::timestamptz AS expires_at, NULL::bigint AS price_milliunits,
        NULL::text AS currency, NULL::bigint AS remaining, NULL::bigint AS value_out,
        NULL::text AS environment
        """

    /// An account's own row, then one for each open lot that isn't in it: in one statement, so that
    /// they belong together.
    private static let stateColumns =
        "account, version, lot_count, details, open_lots, \(noLotColumns)"

    private static let openLotColumns =
        "account, NULL::bigint, NULL::bigint, NULL::bytea, NULL::bytea, \(keptLotColumns)"

    static let accounts = PostgresStatement(
        "accounts",
        """
        SELECT \(stateColumns) FROM coinledger.accounts WHERE account = ANY ($1)
        UNION ALL
        SELECT \(openLotColumns) FROM coinledger.older_lots WHERE account = ANY ($1) AND is_open
        """)

    private static let ownColumns =
        """
        account, version, lot_count, details, paid, free, sandbox_paid, sandbox_free, next_expiry,
        sandbox_next_expiry
        """

    static let accountsAlone = PostgresStatement(
        "accounts_alone",
        "SELECT \(ownColumns), open_lots FROM coinledger.accounts WHERE account = ANY ($1)")

    static let balances = PostgresStatement(
        "balances", "SELECT \(ownColumns) FROM coinledger.accounts WHERE account = ANY ($1)")

    static let laneAccounts = PostgresStatement(
        "lane_accounts",
        """
        WITH page AS MATERIALIZED (
            SELECT account, version, lot_count, details, open_lots FROM coinledger.accounts
            WHERE lane = $1 AND account > $2 ORDER BY account LIMIT $3
        )
        SELECT \(stateColumns) FROM page
        UNION ALL
        SELECT open_lots.* FROM page CROSS JOIN LATERAL (
            SELECT \(openLotColumns) FROM coinledger.older_lots
            WHERE older_lots.account = page.account AND is_open
            OFFSET 0
        ) AS open_lots
        """)

    /// An account's row with the lots in it.
    private static let rowColumns =
        "account, lane, NULL::bigint AS position, open_lots, \(noLotColumns)"

    /// A lot with a row of its own.
    private static let olderLotColumns = "account, lane, position, NULL::bytea, \(keptLotColumns)"

    /// The key has an account's open and closed lots apart.
    private static func olderLots(
        _ half: String, _ account: String, after number: String, limit: String
    ) -> String {
        """
        SELECT \(olderLotColumns) FROM coinledger.older_lots
        WHERE account = \(account) AND \(half) AND number > \(number) ORDER BY number LIMIT \(limit)
        """
    }

    private static let accountRow =
        "SELECT \(rowColumns) FROM coinledger.accounts WHERE account = $1"

    static let accountLots = PostgresStatement(
        "account_lots",
        """
        \(accountRow)
        UNION ALL
        (\(olderLots("is_open", "$1", after: "$2", limit: "$3")))
        UNION ALL
        (\(olderLots("NOT is_open", "$1", after: "$2", limit: "$3")))
        """)

    static let openAccountLots = PostgresStatement(
        "open_account_lots",
        """
        \(accountRow)
        UNION ALL
        (\(olderLots("is_open", "$1", after: "$2", limit: "$3")))
        """)

    /// The rest of one account's lots, then those of the accounts after it; of these the first ones
    /// that have any. By numbers, which never change, since a lot may be opened or closed between
    /// two pages.
    static let laneLots = PostgresStatement(
        "lane_lots",
        """
        (
            SELECT \(rowColumns) FROM coinledger.accounts
            WHERE lane = $1 AND account >= $2 AND open_lots IS NOT NULL
            ORDER BY account LIMIT $4
        )
        UNION ALL
        (\(olderLots("is_open AND lane = $1", "$2", after: "$3", limit: "$4")))
        UNION ALL
        (\(olderLots("NOT is_open AND lane = $1", "$2", after: "$3", limit: "$4")))
        UNION ALL
        (
            SELECT \(olderLotColumns) FROM coinledger.older_lots
            WHERE lane = $1 AND account > $2 ORDER BY account, number LIMIT $4
        )
        """)

    /// What a lot is; not where it came from, nor what is left.
    static let lots = PostgresStatement(
        "lots",
        """
        SELECT lots.*
        FROM unnest($1::text[], $2::bigint[]) AS wanted (account, number)
        CROSS JOIN (VALUES (true), (false)) AS half (is_open)
        CROSS JOIN LATERAL (
            SELECT account, \(lotColumns) FROM coinledger.older_lots
            WHERE older_lots.account = wanted.account AND older_lots.is_open = half.is_open
                AND older_lots.number = wanted.number
            OFFSET 0
        ) AS lots
        """)

    /// When and by what lots were opened.
    static let grants = PostgresStatement(
        "grants",
        """
        SELECT opening.*
        FROM unnest($1::bigint[], $2::bigint[]) AS wanted (lane, position)
        CROSS JOIN LATERAL (
            SELECT \(eventColumns) FROM coinledger.events
            WHERE events.lane = wanted.lane AND events.position = wanted.position
            OFFSET 0
        ) AS opening
        """)

    /// Those whose coins expired first.
    static let expiredAccounts = PostgresStatement(
        "expired_accounts",
        """
        SELECT account FROM coinledger.accounts
        WHERE lane = $1 AND least(next_expiry, sandbox_next_expiry) <= $2
            AND (next_expiry IS NOT NULL OR sandbox_next_expiry IS NOT NULL)
        ORDER BY least(next_expiry, sandbox_next_expiry) LIMIT $3
        """)
}
