-- A viewer buys 120 coins for 160 yen, is given 30 in a campaign, and spends 50 on a stamp.
-- Run by any role of the ledger, such as coinledger_reader.

-- What the balance shows.
SELECT account, version, paid, free, lot_count
FROM coinledger.accounts
WHERE account = 'viewer-1';

-- Its lots. The free coins went first; then 20 paid ones, and with them their part of the price.
SELECT number, kind, coins, remaining, is_open, price_milliunits, value_out, currency
FROM coinledger.lots
WHERE account = 'viewer-1'
ORDER BY number;

-- Where they came from.
SELECT number, source, transaction_id, campaign_id, lane || '-' || position AS event
FROM coinledger.lots
WHERE account = 'viewer-1'
ORDER BY number;

-- What happened.
SELECT version, lane || '-' || position AS event, type, occurred_at
FROM coinledger.events_as_json
WHERE account = 'viewer-1'
ORDER BY version;

-- What the coins were spent on.
SELECT payload ->> 'coins' AS coins, payload -> 'purpose' ->> 'stampId' AS stamp,
    payload -> 'purpose' ->> 'performerId' AS performer, payload ->> 'order' AS "order",
    payload ->> 'policyVersion' AS policy
FROM coinledger.events_as_json
WHERE account = 'viewer-1' AND type = 'CoinsSpent';

-- And where each of them came from.
SELECT lots.number AS lot, slice ->> 'coins' AS coins, slice ->> 'valueMilliunits' AS value,
    lots.source, coalesce(lots.transaction_id, lots.campaign_id) AS origin
FROM coinledger.events_as_json AS spend
CROSS JOIN jsonb_array_elements(spend.payload -> 'slices') WITH ORDINALITY AS part (slice, place)
JOIN coinledger.lots
    ON lots.account = spend.account AND lots.number = (slice ->> 'lot')::bigint
WHERE spend.account = 'viewer-1' AND spend.type = 'CoinsSpent'
ORDER BY place;
