-- An event as `append_events` takes it; its lane and position are the batch's to say.
CREATE TYPE coinledger.new_event AS (
    account text COLLATE "C",
    version bigint,
    command bytea,
    type text COLLATE "C",
    schema_version bigint,
    occurred_at timestamptz,
    recorded_at timestamptz,
    payload bytea
);
