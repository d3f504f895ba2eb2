-- A lot as `append_events` writes it when it leaves its account's row, or never was there.
CREATE TYPE coinledger.older_lot AS (
    account text COLLATE "C",
    number bigint,
    position bigint,
    environment text COLLATE "C",
    kind text COLLATE "C",
    coins bigint,
    remaining bigint,
    expires_at timestamptz,
    price_milliunits bigint,
    currency text COLLATE "C",
    value_out bigint
);
