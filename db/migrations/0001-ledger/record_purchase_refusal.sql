-- Keeps a refusal of a verified purchase; one that's known already only counts on.
CREATE FUNCTION coinledger.record_purchase_refusal(
    p_transaction_id text,
    p_environment text,
    p_store text,
    p_account text,
    p_code text,
    p_product_id text,
    p_time timestamptz
)
RETURNS void
LANGUAGE sql
VOLATILE
SECURITY DEFINER
SET search_path = pg_catalog
AS $$
    INSERT INTO coinledger.purchase_refusals AS known (
        transaction_id, environment, store, account, code, product_id, first_at, last_at, attempts
    )
    VALUES (
        p_transaction_id, p_environment, p_store, p_account, p_code, p_product_id, p_time, p_time, 1
    )
    ON CONFLICT ON CONSTRAINT purchase_refusals_are_distinct
    DO UPDATE SET last_at = greatest(known.last_at, p_time), attempts = known.attempts + 1;
$$;
