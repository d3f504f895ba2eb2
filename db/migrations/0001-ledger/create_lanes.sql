-- Gives a new ledger its lanes; a ledger that has lanes keeps those it has. Answers their number.
-- Raises CL004 for a number of lanes that isn't between 1 and 1024.
CREATE FUNCTION coinledger.create_lanes(p_count bigint)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
SET search_path = pg_catalog
AS $$
BEGIN
    IF p_count NOT BETWEEN 1 AND 1024 THEN
        RAISE EXCEPTION USING
            ERRCODE = 'CL004',
            MESSAGE = 'a ledger has 1 to 1024 lanes',
            DETAIL = json_build_object('lanes', p_count)::text;
    END IF;

    LOCK TABLE coinledger.lanes IN SHARE ROW EXCLUSIVE MODE;
    IF NOT EXISTS (SELECT 1 FROM coinledger.lanes) THEN
        INSERT INTO coinledger.lanes (lane)
        SELECT generate_series(0, p_count - 1);
    END IF;
    RETURN (SELECT count(*) FROM coinledger.lanes);
END;
$$;

REVOKE ALL ON FUNCTION coinledger.create_lanes FROM PUBLIC;
