-- Keeps why a post granted nothing, for each of its purchases; what is known already only counts on.
-- An account has `p_kept_max` of them at most: beyond, the oldest go, claimed ones before others.
-- Reasons and subjects must come sorted and distinct, so that two posts take them in one order.
CREATE FUNCTION coinledger.record_purchase_attempts(
    p_account text,
    p_is_claimed boolean,
    p_receipt_sha256 bytea,
    p_receipt bytea,
    p_time timestamptz,
    p_kept_max bigint,
    p_codes text[],
    p_subjects text[],
    p_transaction_ids text[],
    p_environments text[],
    p_product_ids text[],
    p_purchased_at timestamptz[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
SECURITY DEFINER
SET search_path = pg_catalog
AS $$
BEGIN
    INSERT INTO coinledger.purchase_attempts AS known (
        account, code, subject, is_claimed, transaction_id, environment, product_id, purchased_at,
        receipt_sha256, receipt, first_at, last_at, attempts
    )
    SELECT p_account, attempt.code, attempt.subject, p_is_claimed, attempt.transaction_id,
        attempt.environment, attempt.product_id, attempt.purchased_at, p_receipt_sha256, p_receipt,
        p_time, p_time, 1
    FROM unnest(
        p_codes, p_subjects, p_transaction_ids, p_environments, p_product_ids, p_purchased_at
    ) AS attempt (code, subject, transaction_id, environment, product_id, purchased_at)
    ON CONFLICT ON CONSTRAINT purchase_attempts_are_distinct
    DO UPDATE SET
        receipt_sha256 = excluded.receipt_sha256,
        receipt = coalesce(excluded.receipt, known.receipt),
        first_at = least(known.first_at, p_time),
        last_at = greatest(known.last_at, p_time),
        attempts = known.attempts + 1;

    DELETE FROM coinledger.purchase_attempts
    WHERE ctid = ANY (
        ARRAY(
            SELECT ctid
            FROM coinledger.purchase_attempts
            WHERE account = p_account
            ORDER BY is_claimed, last_at DESC, code, subject
            OFFSET p_kept_max
        )
    );
END;
$$;
