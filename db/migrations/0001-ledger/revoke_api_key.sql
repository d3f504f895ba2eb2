-- Revokes a key; answers whether there was one in force.
CREATE FUNCTION coinledger.revoke_api_key(
    p_id text,
    p_revoked_at timestamptz
)
RETURNS boolean
LANGUAGE sql
VOLATILE
SECURITY DEFINER
SET search_path = pg_catalog
AS $$
    WITH revoked AS (
        UPDATE coinledger.api_keys
        SET revoked_at = p_revoked_at
        WHERE id = p_id AND revoked_at IS NULL
        RETURNING id
    )
    SELECT EXISTS (SELECT 1 FROM revoked);
$$;
