-- Each account after its last event, written by `append_events`, the same as the fold of its events:
-- what a balance shows, of which the coins are the sums of open lots, some perhaps expired since.
-- `details` is JSON of holds and refunds, null where there are none.
-- No index but the key, so that every update stays on its page.
CREATE TABLE coinledger.accounts (
    account text COLLATE "C" NOT NULL,
    lane bigint NOT NULL,
    version coinledger.positive_number NOT NULL,
    paid coinledger.natural_number NOT NULL,
    free coinledger.natural_number NOT NULL,
    sandbox_paid coinledger.natural_number NOT NULL,
    sandbox_free coinledger.natural_number NOT NULL,
    lot_count coinledger.natural_number NOT NULL,
    next_expiry timestamptz,
    sandbox_next_expiry timestamptz,
    details bytea,
    CONSTRAINT accounts_are_distinct PRIMARY KEY (account, lane)
) WITH (fillfactor = 75);
