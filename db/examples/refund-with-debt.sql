-- A viewer buys 120 coins and spends 70; then the store gives all of the money back. 50 coins can
-- be taken, 70 are owed. A gift of 30 coins pays some of that at once.

-- What the balance shows: no coins, and nothing can be spent while there is debt.
SELECT version, paid, free
FROM coinledger.accounts
WHERE account = 'viewer-2';

-- The refund as the account remembers it: what it took from which lot, and what is still owed.
SELECT refund ->> 'transactionId' AS purchase, refund ->> 'percentageMilliunits' AS percentage,
    taken -> 'lot' ->> 'number' AS lot, taken ->> 'coins' AS taken, refund ->> 'debt' AS debt
FROM coinledger.accounts
CROSS JOIN jsonb_array_elements(
    convert_from(details, 'UTF8')::jsonb -> 'production' -> 'refunds'
) AS refund
CROSS JOIN jsonb_array_elements(refund -> 'taken') WITH ORDINALITY AS part (taken, place)
WHERE account = 'viewer-2'
ORDER BY place;

-- Both lots are used up.
SELECT number, kind, coins, remaining, is_open, value_out
FROM coinledger.lots
WHERE account = 'viewer-2'
ORDER BY number;

-- How it came to that.
SELECT version, type, payload ->> 'debt' AS debt,
    jsonb_path_query_array(payload, '$.taken[*].coins') AS taken
FROM coinledger.events_as_json
WHERE account = 'viewer-2'
ORDER BY version;

-- Who has the purchase, and which event says so.
SELECT transaction_id, environment, account, lane || '-' || position AS event
FROM coinledger.purchases
WHERE transaction_id = 'T2';
