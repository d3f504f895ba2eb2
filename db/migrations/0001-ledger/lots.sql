-- Every lot of coins: where it came from and what is left. Written by `append_events` with the events
-- that open lots, draw from them and give back; the same as the fold of these events.
--
-- What a draw changes is in no index unless it closes the lot, so that the row stays on its page.
CREATE TABLE coinledger.lots (
    account text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    lane bigint NOT NULL,
    position bigint NOT NULL,
    environment text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    coins bigint NOT NULL,
    remaining bigint NOT NULL,
    granted_at timestamptz NOT NULL,
    expires_at timestamptz,
    price_milliunits bigint,
    currency text COLLATE "C",
    value_out bigint NOT NULL,
    source text COLLATE "C" NOT NULL,
    store text COLLATE "C",
    transaction_id text COLLATE "C",
    campaign_id text,
    ticket_id text,
    is_open boolean NOT NULL GENERATED ALWAYS AS (remaining > 0) STORED,
    CONSTRAINT lots_are_distinct PRIMARY KEY (account, number, lane),
    CONSTRAINT lots_remaining_is_within_coins CHECK (remaining BETWEEN 0 AND coins)
) WITH (fillfactor = 90);

-- An account's state has its open lots alone, however many it has used up.
CREATE INDEX lots_open ON coinledger.lots (account, number) WHERE is_open;

-- Holds what can still expire and nothing else, so that looking for expired lots costs what they are.
CREATE INDEX lots_expiring ON coinledger.lots (lane, expires_at)
WHERE is_open AND expires_at IS NOT NULL;
