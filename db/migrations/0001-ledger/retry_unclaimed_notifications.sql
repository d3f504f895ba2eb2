-- Has the unclaimed notifications of a token due at `p_at` again, once the token is linked. Answers
-- how many they were.
--
-- Pending ones are locked too, because they may just be ending as unclaimed; see
-- `end_notification_unclaimed`.
CREATE FUNCTION coinledger.retry_unclaimed_notifications(
    p_app_account_token text,
    p_at timestamptz
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
SECURITY DEFINER
SET search_path = pg_catalog
AS $$
DECLARE
    retried bigint;
BEGIN
    PERFORM 1
    FROM coinledger.store_notifications
    WHERE app_account_token = p_app_account_token
        AND (state = 'pending' OR outcome = 'unclaimed')
    FOR UPDATE;

    UPDATE coinledger.store_notifications
    SET state = 'pending', attempts = 0, next_attempt_at = p_at, outcome = NULL, ended_at = NULL
    WHERE app_account_token = p_app_account_token AND outcome = 'unclaimed';
    GET DIAGNOSTICS retried = ROW_COUNT;
    RETURN retried;
END;
$$;
