import TestSupport
import Testing

/// What must hold for every ledger, worked out in SQL from the events alone.
enum LedgerChecks {
    /// One line for each deviation.
    static func findings(_ connectionString: String) throws -> [String] {
        try BlockingConnection.rows(of: sql, on: connectionString).map { $0[0] }
    }

    /// The lots, which may lag behind, against the events.
    static func lotFindings(_ connectionString: String) throws -> [String] {
        try BlockingConnection.rows(of: lotsSQL, on: connectionString).map { $0[0] }
    }

    private static let granted = """
        granted AS (
            SELECT e.lane, e.position, e.account, e.payload->>'environment' AS environment,
                e.payload->'source'->>'transactionId' AS transaction_id,
                (lot->>'number')::bigint AS number, lot->>'kind' AS kind,
                (lot->>'coins')::bigint AS coins
            FROM coinledger.events_as_json e
            CROSS JOIN jsonb_array_elements(e.payload->'lots') lot
            WHERE e.type = 'CoinsGranted'
        )
        """

    private static let sql = """
        WITH \(granted), folded AS (
            SELECT e.account, max(e.version) AS version,
                coalesce((SELECT sum(coins) FROM granted g WHERE g.account = e.account
                    AND kind = 'paid' AND environment = 'Production'), 0) AS paid,
                coalesce((SELECT sum(coins) FROM granted g WHERE g.account = e.account
                    AND kind = 'free' AND environment = 'Production'), 0) AS free,
                coalesce((SELECT sum(coins) FROM granted g WHERE g.account = e.account
                    AND kind = 'paid' AND environment = 'Sandbox'), 0) AS sandbox_paid,
                coalesce((SELECT sum(coins) FROM granted g WHERE g.account = e.account
                    AND kind = 'free' AND environment = 'Sandbox'), 0) AS sandbox_free
            FROM coinledger.events e GROUP BY e.account
        )
        SELECT 'positions of lane ' || lane FROM coinledger.lanes
        LEFT JOIN coinledger.events e USING (lane)
        GROUP BY lane, lanes.position
        HAVING lanes.position <> count(e.position)
            OR lanes.position <> coalesce(max(e.position), 0)
        UNION ALL
        SELECT 'versions of ' || account FROM coinledger.events
        GROUP BY account HAVING count(*) <> max(version)
        UNION ALL
        SELECT 'balance of ' || account FROM coinledger.accounts a FULL JOIN folded f USING (account)
        WHERE (a.version, a.paid, a.free, a.sandbox_paid, a.sandbox_free)
            IS DISTINCT FROM (f.version, f.paid, f.free, f.sandbox_paid, f.sandbox_free)
        UNION ALL
        SELECT 'granted twice: ' || transaction_id FROM granted
        GROUP BY transaction_id, environment HAVING count(DISTINCT (lane, position)) > 1
        UNION ALL
        SELECT 'claim without grant: ' || p.transaction_id FROM coinledger.purchases p
        WHERE NOT EXISTS (
            SELECT FROM granted g
            WHERE (g.lane, g.position, g.account) = (p.lane, p.position, p.account))
        UNION ALL
        SELECT 'grant without claim: ' || g.transaction_id FROM granted g
        WHERE NOT EXISTS (
            SELECT FROM coinledger.purchases p
            WHERE (p.transaction_id, p.environment, p.account)
                = (g.transaction_id, g.environment, g.account))
        """

    private static let lotsSQL = """
        WITH \(granted)
        SELECT 'lot ' || number || ' of ' || account
        FROM (SELECT account, number, lane, position, environment, kind, coins, transaction_id
            FROM coinledger.lots) l
        FULL JOIN granted g USING (account, number)
        WHERE (l.lane, l.position, l.environment, l.kind, l.coins, l.transaction_id)
            IS DISTINCT FROM
            (g.lane, g.position, g.environment, g.kind, g.coins, g.transaction_id)
        """
}
