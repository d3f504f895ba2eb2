-- An account as `append_events` leaves it, and the version it was changed from: 0 if it's new.
CREATE TYPE coinledger.changed_account AS (
    account text COLLATE "C",
    from_version bigint,
    version bigint,
    paid bigint,
    free bigint,
    sandbox_paid bigint,
    sandbox_free bigint,
    lot_count bigint,
    next_expiry timestamptz,
    sandbox_next_expiry timestamptz,
    open_lots bytea,
    details bytea
);
