import TestSupport
import Testing

/// What must hold for every ledger, worked out in SQL from the events alone.
enum LedgerChecks {
    /// One line for each deviation.
    static func findings(_ connectionString: String) throws -> [String] {
        try BlockingConnection.rows(of: sql, on: connectionString).map { $0[0] }
    }

    /// Coins that came into a lot, went out of it, or came back, one row each.
    private static let moves = """
        slices AS (
            SELECT account, version, payload->>'environment' AS environment, 1 AS sign,
                lot->'number' AS number, lot->>'kind' AS kind, lot->'coins' AS coins
            FROM coinledger.events_as_json
            CROSS JOIN jsonb_array_elements(
                coalesce(payload->'lots', jsonb_build_array(payload->'added'))) lot
            WHERE type = 'CoinsGranted' OR type = 'CoinsAdjusted' AND payload ? 'added'
            UNION ALL
            SELECT account, version, payload->>'environment', -1,
                slice->'lot', slice->>'kind', slice->'coins'
            FROM coinledger.events_as_json
            CROSS JOIN jsonb_array_elements(coalesce(payload->'slices', payload->'removed')) slice
            WHERE type IN ('CoinsSpent', 'CoinsExpired')
                OR type = 'CoinsAdjusted' AND payload ? 'removed'
            UNION ALL
            SELECT account, version, payload->>'environment',
                CASE WHEN payload ? 'taken' THEN -1 ELSE 1 END,
                slice->'lot'->'number', slice->'lot'->>'kind', slice->'coins'
            FROM coinledger.events_as_json
            CROSS JOIN jsonb_array_elements(coalesce(payload->'taken', payload->'returned')) slice
            WHERE type IN ('PurchaseRefunded', 'DebtPaid', 'RefundReversed', 'SpendReversed')
        ), moves AS (
            SELECT account, version, environment, number::bigint, kind,
                sign * coins::bigint AS coins
            FROM slices
        )
        """

    private static let granted = """
        granted AS (
            SELECT lane, position, account, payload->'source'->>'environment' AS environment,
                payload->'source'->>'transactionId' AS transaction_id
            FROM coinledger.events_as_json
            WHERE type = 'CoinsGranted' AND payload->'source'->>'type' = 'purchase'
        )
        """

    private static let folded = """
        folded AS (
            SELECT e.account, max(e.version) AS version,
                coalesce((SELECT sum(coins) FROM moves m WHERE m.account = e.account
                    AND kind = 'paid' AND environment = 'Production'), 0) AS paid,
                coalesce((SELECT sum(coins) FROM moves m WHERE m.account = e.account
                    AND kind = 'free' AND environment = 'Production'), 0) AS free,
                coalesce((SELECT sum(coins) FROM moves m WHERE m.account = e.account
                    AND kind = 'paid' AND environment = 'Sandbox'), 0) AS sandbox_paid,
                coalesce((SELECT sum(coins) FROM moves m WHERE m.account = e.account
                    AND kind = 'free' AND environment = 'Sandbox'), 0) AS sandbox_free
            FROM coinledger.events e GROUP BY e.account
        )
        """

    private static let sql = """
        WITH \(moves), \(granted), \(folded)
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
        SELECT 'lot ' || number || ' of ' || account
        FROM (SELECT account, number, environment, kind, remaining FROM coinledger.lots) l
        FULL JOIN (SELECT account, number, environment, kind, sum(coins) AS remaining
            FROM moves GROUP BY account, number, environment, kind) m USING (account, number)
        WHERE (l.environment, l.kind, l.remaining)
            IS DISTINCT FROM (m.environment, m.kind, m.remaining)
        UNION ALL
        SELECT 'lot ' || number || ' of ' || account || ' below zero at ' || version
        FROM (SELECT account, number, version, sum(coins) OVER (
                PARTITION BY account, number ORDER BY version) AS remaining FROM moves) m
        WHERE remaining < 0
        UNION ALL
        SELECT 'granted twice: ' || transaction_id FROM granted
        GROUP BY transaction_id, environment HAVING count(*) > 1
        UNION ALL
        SELECT 'claim without grant: ' || p.transaction_id FROM coinledger.purchases p
        WHERE p.account <> '*' AND NOT EXISTS (
            SELECT FROM granted g
            WHERE (g.lane, g.position, g.account) = (p.lane, p.position, p.account))
        UNION ALL
        SELECT 'grant without claim: ' || g.transaction_id FROM granted g
        WHERE NOT EXISTS (
            SELECT FROM coinledger.purchases p
            WHERE (p.transaction_id, p.environment, p.account)
                = (g.transaction_id, g.environment, g.account))
        UNION ALL
        SELECT 'reversed twice: ' || spend FROM (
            SELECT payload->>'spend' AS spend FROM coinledger.events_as_json
            WHERE type = 'SpendReversed') r
        GROUP BY spend HAVING count(*) > 1
        """
}
