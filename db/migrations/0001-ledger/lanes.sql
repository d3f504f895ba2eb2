-- A lane is a part of the log with one sequence of positions; `position` is that of its last event.
-- The number of lanes is fixed when the ledger is created: an account's lane is a hash modulo it.
-- `batch` is a number at random that its last batch was given, so that whoever appends to the end of a
-- batch knows that it's this one.
-- The fillfactor leaves room for the row's many versions on its own page.
CREATE TABLE coinledger.lanes (
    lane coinledger.natural_number NOT NULL,
    position coinledger.natural_number NOT NULL DEFAULT 0,
    batch bigint NOT NULL DEFAULT 0,
    CONSTRAINT lanes_are_distinct PRIMARY KEY (lane)
) WITH (fillfactor = 10);
