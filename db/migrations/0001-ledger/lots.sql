-- Every lot of coins and where it came from: a projection of the events, some moments behind.
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
    store text COLLATE "C",
    transaction_id text COLLATE "C",
    CONSTRAINT lots_are_distinct PRIMARY KEY (account, number, lane),
    CONSTRAINT lots_remaining_is_within_coins CHECK (remaining BETWEEN 0 AND coins)
);
