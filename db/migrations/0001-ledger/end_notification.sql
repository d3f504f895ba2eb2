-- Ends a pending notification as done or dead; one that has ended stays as it is. Without a detail
-- what was noted before stays.
CREATE FUNCTION coinledger.end_notification(
    p_notification_uuid text,
    p_state text,
    p_outcome text,
    p_detail text,
    p_at timestamptz
)
RETURNS void
LANGUAGE sql
VOLATILE
SECURITY DEFINER
SET search_path = pg_catalog
AS $$
    UPDATE coinledger.store_notifications
    SET state = p_state, outcome = p_outcome, detail = coalesce(p_detail, detail), ended_at = p_at
    WHERE notification_uuid = p_notification_uuid AND state = 'pending';
$$;
