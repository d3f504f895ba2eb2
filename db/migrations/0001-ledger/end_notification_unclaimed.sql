-- Ends a pending notification as unclaimed, unless its token has an owner by now: then it stays
-- pending and is due at `p_at`. Answers whether it has ended.
--
-- The row is locked before the owner is looked for, and `retry_unclaimed_notifications` waits for
-- that lock: of a token that is linked meanwhile, either this one sees the link or that one sees the
-- unclaimed notification.
CREATE FUNCTION coinledger.end_notification_unclaimed(
    p_notification_uuid text,
    p_at timestamptz
)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
SECURITY DEFINER
SET search_path = pg_catalog
AS $$
DECLARE
    wanted text;
BEGIN
    SELECT app_account_token
    INTO wanted
    FROM coinledger.store_notifications
    WHERE notification_uuid = p_notification_uuid AND state = 'pending'
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;

    IF EXISTS (SELECT 1 FROM coinledger.app_account_tokens WHERE token = wanted) THEN
        UPDATE coinledger.store_notifications
        SET next_attempt_at = p_at
        WHERE notification_uuid = p_notification_uuid;
        RETURN false;
    END IF;

    UPDATE coinledger.store_notifications
    SET state = 'done', outcome = 'unclaimed', ended_at = p_at
    WHERE notification_uuid = p_notification_uuid;
    RETURN true;
END;
$$;
