-- Lots that have left their account's row: those that were used up, and those that were open when
-- newer ones took their places there. What happens to them later is written here. Written by
-- `append_events` with the events that open lots, draw from them and give back; `lots` shows them
-- together with those in the rows of accounts.
--
-- The key has an account's open lots together, since its state is made of these alone, however many
-- it has used up; more than this one index would cost an append dearly. That no number is given
-- twice is the duty of the account's version.
--
-- What a draw changes is in no index unless it closes the lot, so that the row stays on its page.
-- `is_open` isn't a generated column, because each statement would have to read how to make it.
CREATE TABLE coinledger.older_lots (
    number bigint NOT NULL,
    lane bigint NOT NULL,
    position bigint NOT NULL,
    coins bigint NOT NULL,
    remaining coinledger.natural_number NOT NULL,
    value_out bigint NOT NULL,
    expires_at timestamptz,
    price_milliunits bigint,
    is_open boolean NOT NULL,
    account text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    currency text COLLATE "C",
    CONSTRAINT older_lots_are_distinct PRIMARY KEY (account, is_open, number),
    CONSTRAINT older_lots_remaining_is_within_coins CHECK (remaining <= coins),
    CONSTRAINT older_lots_with_coins_are_open CHECK (is_open = (remaining > 0))
) WITH (fillfactor = 90);
