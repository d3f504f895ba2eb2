-- Forgets up to `p_limit` attempts that weren't repeated since `p_before`, the oldest first. Answers
-- how many it were. Those that another process is just forgetting are left to it.
CREATE FUNCTION coinledger.forget_purchase_attempts(
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
    DELETE FROM coinledger.purchase_attempts
    WHERE ctid = ANY (
        ARRAY(
            SELECT ctid
            FROM coinledger.purchase_attempts
            WHERE last_at < p_before
            ORDER BY last_at
            LIMIT p_limit
            FOR UPDATE SKIP LOCKED
        )
    );
    GET DIAGNOSTICS forgotten = ROW_COUNT;
    RETURN forgotten;
END;
$$;
