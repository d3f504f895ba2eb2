-- Which event took back which spend: at most one a spend, for ever.
CREATE TABLE coinledger.spend_reversals (
    spend_lane bigint NOT NULL,
    spend_position bigint NOT NULL,
    lane bigint NOT NULL,
    position bigint NOT NULL,
    CONSTRAINT spends_are_reversed_once PRIMARY KEY (spend_lane, spend_position)
);
