-- Forgets up to `p_limit` answers recorded before `p_before`, the oldest first. Answers how many it
-- were. Those that another process is just forgetting are left to it.
CREATE FUNCTION coinledger.forget_answers(
    p_before timestamptz,
    p_limit bigint
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
SECURITY DEFINER
SET search_path = pg_catalog
AS $$
DECLARE
    forgotten bigint;
BEGIN
    DELETE FROM coinledger.idempotency_answers
    WHERE ctid = ANY (
        ARRAY(
            SELECT ctid
            FROM coinledger.idempotency_answers
            WHERE recorded_at < p_before
            ORDER BY recorded_at
            LIMIT p_limit
            FOR UPDATE SKIP LOCKED
        )
    );
    GET DIAGNOSTICS forgotten = ROW_COUNT;
    RETURN forgotten;
END;
$$;
