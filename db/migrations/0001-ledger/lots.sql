-- Every lot of coins: where it came from and what is left; the same as the fold of the events.
CREATE VIEW coinledger.lots AS
SELECT lot.account, lot.number, lot.lane, lot.position, lot.environment, lot.kind, lot.coins,
    lot.remaining, grant_event.recorded_at AS granted_at, lot.expires_at, lot.price_milliunits,
    lot.currency, lot.value_out, origin.source, origin.store, origin.transaction_id,
    origin.campaign_id, origin.ticket_id, lot.remaining > 0 AS is_open
FROM (
    SELECT account, number, lane, position, environment, kind, coins, remaining, expires_at,
        price_milliunits, currency, value_out
    FROM coinledger.older_lots
    UNION ALL
    SELECT accounts.account, lot.number, accounts.lane, lot.position, lot.environment, lot.kind,
        lot.coins, lot.remaining, lot.expires_at, lot.price_milliunits, lot.currency, lot.value_out
    FROM coinledger.accounts
    CROSS JOIN LATERAL coinledger.open_lots(accounts.open_lots) AS lot
) AS lot
LEFT JOIN coinledger.events AS grant_event USING (lane, position)
LEFT JOIN LATERAL (
    SELECT coalesce(payload -> 'source' ->> 'type', 'support') AS source,
        payload -> 'source' ->> 'store' AS store,
        payload -> 'source' ->> 'transactionId' AS transaction_id,
        payload -> 'source' ->> 'campaignId' AS campaign_id,
        payload ->> 'ticketId' AS ticket_id
    FROM (SELECT convert_from(grant_event.payload, 'UTF8')::jsonb AS payload) AS decoded
) AS origin ON true;
