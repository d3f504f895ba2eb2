-- The keys of the API. A key is shown once, when it's made; only the SHA-256 of its secret stays.
CREATE TABLE coinledger.api_keys (
    id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    scopes text NOT NULL,
    secret_sha256 coinledger.sha256 NOT NULL,
    created_at timestamptz NOT NULL,
    revoked_at timestamptz,
    CONSTRAINT api_keys_are_distinct PRIMARY KEY (id)
);
