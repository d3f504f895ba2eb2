-- What `append_events` leaves of a lot that has left its account's row before.
CREATE TYPE coinledger.changed_lot AS (
    account text COLLATE "C",
    number bigint,
    remaining bigint,
    value_out bigint
);
