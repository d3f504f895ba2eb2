-- Takes up to `p_limit` pending notifications that are due at `p_now`, those first that were signed
-- first, so that nobody else takes them before `p_lease_end`. Those that another process is just
-- taking are left to it.
CREATE FUNCTION coinledger.claim_notifications(
    p_now timestamptz,
    p_lease_end timestamptz,
    p_limit bigint
)
RETURNS SETOF coinledger.store_notifications
LANGUAGE sql
VOLATILE
SECURITY DEFINER
SET search_path = pg_catalog
AS $$
    UPDATE coinledger.store_notifications
    SET attempts = attempts + 1, next_attempt_at = p_lease_end
    WHERE notification_uuid = ANY (
        ARRAY(
            SELECT notification_uuid
            FROM coinledger.store_notifications
            WHERE state = 'pending' AND next_attempt_at <= p_now
            ORDER BY signed_at
            LIMIT p_limit
            FOR UPDATE SKIP LOCKED
        )
    )
    RETURNING *;
$$;
