-- A lane is a part of the log with one sequence of positions; `position` is that of its last event.
-- The number of lanes is fixed when the ledger is created: an account's lane is a hash modulo it.
-- The fillfactor leaves room for the row's many versions on its own page.
CREATE TABLE coinledger.lanes (
    lane bigint NOT NULL,
    position bigint NOT NULL DEFAULT 0,
    CONSTRAINT lanes_are_distinct PRIMARY KEY (lane),
    CONSTRAINT lanes_lane_is_not_negative CHECK (lane >= 0),
    CONSTRAINT lanes_position_is_not_negative CHECK (position >= 0)
) WITH (fillfactor = 10);
