-- What SHA-256 makes of something.
CREATE DOMAIN coinledger.sha256 AS bytea
CONSTRAINT sha256_has_32_bytes CHECK (octet_length(VALUE) = 32);
