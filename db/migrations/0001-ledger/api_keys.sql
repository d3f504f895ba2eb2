-- The keys of the API. A key is shown once, when it's made; only the SHA-256 of its secret stays.
CREATE TABLE coinledger.api_keys (
    id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    scopes text NOT NULL,
    secret_sha256 bytea NOT NULL,
    created_at timestamptz NOT NULL,
    revoked_at timestamptz,
    CONSTRAINT api_keys_are_distinct PRIMARY KEY (id),
    CONSTRAINT api_keys_secret_sha256_has_32_bytes CHECK (octet_length(secret_sha256) = 32)
);
