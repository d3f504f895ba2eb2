-- Keeps a new key of the API.
CREATE FUNCTION coinledger.create_api_key(
    p_id text,
    p_name text,
    p_scopes text,
    p_secret_sha256 bytea,
    p_created_at timestamptz
)
RETURNS void
LANGUAGE sql
VOLATILE
SECURITY DEFINER
SET search_path = pg_catalog
AS $$
    INSERT INTO coinledger.api_keys (id, name, scopes, secret_sha256, created_at)
    VALUES (p_id, p_name, p_scopes, p_secret_sha256, p_created_at);
$$;
