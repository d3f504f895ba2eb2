-- Each account after its last event, written by `append_events`, the same as the fold of its events:
-- what a balance shows, of which the coins are the sums of open lots, some perhaps expired since.
-- `details` is JSON of holds and refunds, null where there are none.
-- No index but the key, so that every update stays on its page.
CREATE TABLE coinledger.accounts (
    account text COLLATE "C" NOT NULL,
    lane bigint NOT NULL,
    version bigint NOT NULL,
    paid bigint NOT NULL,
    free bigint NOT NULL,
    sandbox_paid bigint NOT NULL,
    sandbox_free bigint NOT NULL,
    lot_count bigint NOT NULL,
    next_expiry timestamptz,
    sandbox_next_expiry timestamptz,
    details bytea,
    CONSTRAINT accounts_are_distinct PRIMARY KEY (account, lane),
    CONSTRAINT accounts_version_is_positive CHECK (version > 0),
    CONSTRAINT accounts_coins_are_not_negative CHECK (
        least(paid, free, sandbox_paid, sandbox_free, lot_count) >= 0
    )
) WITH (fillfactor = 75);
