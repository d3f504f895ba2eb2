-- Each account after its last event, written by `append_events`, the same as the fold of its events:
-- what a balance shows, of which the coins are the sums of open lots, some perhaps expired since.
-- `open_lots` are the newest of these, in the bytes that the function of that name reads; all others
-- are in `older_lots`. `details` is JSON of holds and refunds, null where there are none.
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
    open_lots bytea,
    details bytea,
    CONSTRAINT accounts_are_distinct PRIMARY KEY (account, lane)
) WITH (fillfactor = 75);

-- Holds who has coins that can still expire and nobody else, so that looking for expired ones costs
-- what they are. An update stays on its page unless the earliest expiry changes.
CREATE INDEX accounts_expiring
ON coinledger.accounts (lane, least(next_expiry, sandbox_next_expiry))
WHERE next_expiry IS NOT NULL OR sandbox_next_expiry IS NOT NULL;
