-- Has a dead notification due at `p_at` again, with all its attempts. Answers whether there was one.
CREATE FUNCTION coinledger.retry_dead_notification(
    p_notification_uuid text,
    p_at timestamptz
)
RETURNS boolean
LANGUAGE sql
VOLATILE
SECURITY DEFINER
SET search_path = pg_catalog
AS $$
    WITH retried AS (
        UPDATE coinledger.store_notifications
        SET state = 'pending', attempts = 0, next_attempt_at = p_at, outcome = NULL, ended_at = NULL
        WHERE notification_uuid = p_notification_uuid AND state = 'dead'
        RETURNING number
    )
    SELECT EXISTS (SELECT 1 FROM retried);
$$;
