-- What `append_events` leaves of an older lot.
CREATE TYPE coinledger.changed_lot AS (
    account text COLLATE "C",
    number bigint,
    remaining bigint,
    value_out bigint
);
