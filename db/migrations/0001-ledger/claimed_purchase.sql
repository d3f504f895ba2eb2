-- A purchase as `append_events` claims it. One that takes a remembered refund over says which event
-- has it now; `from_position` is 0 for all others.
CREATE TYPE coinledger.claimed_purchase AS (
    transaction_id text COLLATE "C",
    environment text COLLATE "C",
    store text COLLATE "C",
    account text COLLATE "C",
    position bigint,
    from_lane bigint,
    from_position bigint
);
