-- Every lot of coins: where it came from and what is left. Written by `append_events` with the events
-- that open lots, draw from them and give back; the same as the fold of these events.
--
-- The key has an account's open lots together, since its state is made of these alone, however many
-- it has used up; more than this one index would cost an append a tenth. That no number is given
-- twice, once to an open lot and once to a closed one, is the duty of the account's version.
--
-- What a draw changes is in no index unless it closes the lot, so that the row stays on its page.
-- `is_open` isn't a generated column, because each statement would have to read how to make it.
CREATE TABLE coinledger.lots (
    number bigint NOT NULL,
    lane bigint NOT NULL,
    position bigint NOT NULL,
    coins bigint NOT NULL,
    remaining coinledger.natural_number NOT NULL,
    value_out bigint NOT NULL,
    granted_at timestamptz NOT NULL,
    expires_at timestamptz,
    price_milliunits bigint,
    is_open boolean NOT NULL,
    account text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    currency text COLLATE "C",
    store text COLLATE "C",
    transaction_id text COLLATE "C",
    campaign_id text,
    ticket_id text,
    CONSTRAINT lots_are_distinct PRIMARY KEY (account, is_open, number),
    CONSTRAINT lots_remaining_is_within_coins CHECK (remaining <= coins),
    CONSTRAINT lots_with_coins_are_open CHECK (is_open = (remaining > 0))
) WITH (fillfactor = 90);

-- Holds what can still expire and nothing else, so that looking for expired lots costs what they are.
CREATE INDEX lots_expiring ON coinledger.lots (lane, expires_at)
WHERE is_open AND expires_at IS NOT NULL;
