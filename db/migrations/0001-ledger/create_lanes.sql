-- Gives a new ledger its lanes; a ledger that has lanes keeps those it has. Answers their number.
CREATE FUNCTION coinledger.create_lanes(p_count bigint)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
SET search_path = pg_catalog
AS $$
BEGIN
    LOCK TABLE coinledger.lanes IN SHARE ROW EXCLUSIVE MODE;
    IF NOT EXISTS (SELECT 1 FROM coinledger.lanes) THEN
        INSERT INTO coinledger.lanes (lane)
        SELECT generate_series(0, p_count - 1);
        INSERT INTO coinledger.projection_checkpoints (projection, lane)
        SELECT 'lots', generate_series(0, p_count - 1);
    END IF;
    RETURN (SELECT count(*) FROM coinledger.lanes);
END;
$$;

REVOKE ALL ON FUNCTION coinledger.create_lanes FROM PUBLIC;
