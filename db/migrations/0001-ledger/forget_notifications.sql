-- Forgets up to `p_limit` notifications that were done before `p_before`, but no unclaimed ones,
-- since somebody may still be owed coins. Answers how many they were.
CREATE FUNCTION coinledger.forget_notifications(
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
    DELETE FROM coinledger.store_notifications
    WHERE notification_uuid = ANY (
        ARRAY(
            SELECT notification_uuid
            FROM coinledger.store_notifications
            WHERE state = 'done' AND outcome <> 'unclaimed' AND ended_at < p_before
            ORDER BY ended_at
            LIMIT p_limit
            FOR UPDATE SKIP LOCKED
        )
    );
    GET DIAGNOSTICS forgotten = ROW_COUNT;
    RETURN forgotten;
END;
$$;
