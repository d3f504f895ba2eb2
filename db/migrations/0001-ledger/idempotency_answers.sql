-- What was answered to requests with an idempotency key, given again when they are repeated. Kept for
-- a while, then forgotten by `forget_answers`.
CREATE TABLE coinledger.idempotency_answers (
    account text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    lane bigint NOT NULL,
    request_sha256 coinledger.sha256 NOT NULL,
    status bigint NOT NULL,
    body bytea NOT NULL,
    recorded_at timestamptz NOT NULL,
    CONSTRAINT idempotency_keys_are_answered_once PRIMARY KEY (account, key)
);

-- Grows at its right end alone. A block range index would cost less to write, but its ranges never
-- forget what was deleted: once the table's pages are used again, every search reads all of it.
CREATE INDEX idempotency_answers_by_recorded_at
ON coinledger.idempotency_answers (recorded_at);
