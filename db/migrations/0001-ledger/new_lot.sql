-- A lot as `append_events` opens it, perhaps drawn from by the same batch.
CREATE TYPE coinledger.new_lot AS (
    account text COLLATE "C",
    number bigint,
    position bigint,
    environment text COLLATE "C",
    kind text COLLATE "C",
    coins bigint,
    remaining bigint,
    granted_at timestamptz,
    expires_at timestamptz,
    price_milliunits bigint,
    currency text COLLATE "C",
    value_out bigint,
    source text COLLATE "C",
    store text COLLATE "C",
    transaction_id text COLLATE "C",
    campaign_id text,
    ticket_id text
);
