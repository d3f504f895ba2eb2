-- An answer as `append_events` keeps it.
CREATE TYPE coinledger.new_answer AS (
    account text COLLATE "C",
    key text COLLATE "C",
    request_sha256 bytea,
    status bigint,
    body bytea,
    recorded_at timestamptz
);
