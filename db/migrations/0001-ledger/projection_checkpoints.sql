-- How far each projection has read each lane.
CREATE TABLE coinledger.projection_checkpoints (
    projection text COLLATE "C" NOT NULL,
    lane bigint NOT NULL,
    position bigint NOT NULL DEFAULT 0,
    CONSTRAINT projection_checkpoints_are_distinct PRIMARY KEY (projection, lane)
);
