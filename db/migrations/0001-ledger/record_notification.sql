-- Keeps a notification, due at once, unless one of that name is kept already. Answers whether it's
-- new.
CREATE FUNCTION coinledger.record_notification(
    p_notification_uuid text,
    p_environment text,
    p_type text,
    p_subtype text,
    p_signed_at timestamptz,
    p_received_at timestamptz,
    p_transaction_id text,
    p_original_transaction_id text,
    p_product_id text,
    p_app_account_token text,
    p_signed_payload bytea
)
RETURNS boolean
LANGUAGE sql
VOLATILE
SECURITY DEFINER
SET search_path = pg_catalog
AS $$
    WITH recorded AS (
        INSERT INTO coinledger.store_notifications (
            notification_uuid, environment, type, subtype, signed_at, received_at, transaction_id,
            original_transaction_id, product_id, app_account_token, signed_payload, next_attempt_at
        )
        VALUES (
            p_notification_uuid, p_environment, p_type, p_subtype, p_signed_at, p_received_at,
            p_transaction_id, p_original_transaction_id, p_product_id, p_app_account_token,
            p_signed_payload, p_received_at
        )
        ON CONFLICT ON CONSTRAINT store_notifications_are_kept_once DO NOTHING
        RETURNING number
    )
    SELECT EXISTS (SELECT 1 FROM recorded);
$$;
