-- Has a pending notification due at `p_until`. Without a detail what was noted before stays.
CREATE FUNCTION coinledger.postpone_notification(
    p_notification_uuid text,
    p_until timestamptz,
    p_detail text
)
RETURNS void
LANGUAGE sql
VOLATILE
SECURITY DEFINER
SET search_path = pg_catalog
AS $$
    UPDATE coinledger.store_notifications
    SET next_attempt_at = p_until, detail = coalesce(p_detail, detail)
    WHERE notification_uuid = p_notification_uuid AND state = 'pending';
$$;
