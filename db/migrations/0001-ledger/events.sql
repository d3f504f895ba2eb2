-- The log: what happened, in order, for ever. `payload` holds the exact bytes written.
-- Positions are gapless within a lane and versions within an account. There is no foreign key and
-- no trigger for each row: `append_events` guarantees what they would check, at a third of the cost.
CREATE TABLE coinledger.events (
    lane bigint NOT NULL,
    position bigint NOT NULL,
    version bigint NOT NULL,
    schema_version bigint NOT NULL,
    occurred_at timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL,
    account text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    command bytea NOT NULL,
    payload bytea NOT NULL,
    CONSTRAINT events_positions_are_distinct PRIMARY KEY (lane, position),
    CONSTRAINT events_versions_are_distinct UNIQUE (account, version, lane),
    CONSTRAINT events_position_is_positive CHECK (position > 0),
    CONSTRAINT events_version_is_positive CHECK (version > 0),
    CONSTRAINT events_schema_version_is_positive CHECK (schema_version > 0),
    CONSTRAINT events_command_has_16_bytes CHECK (octet_length(command) = 16)
);

CREATE INDEX events_by_recorded_at ON coinledger.events USING brin (recorded_at);
