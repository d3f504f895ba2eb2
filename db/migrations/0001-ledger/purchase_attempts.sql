-- Posts that granted nothing, for the support desk: one row for an account, a reason and a subject,
-- however often it was posted. The subject is the purchase or, where none is known, the receipt.
-- What is claimed was read from a receipt that nobody vouches for. `receipt` is null unless the
-- operator keeps receipts.
CREATE TABLE coinledger.purchase_attempts (
    account text COLLATE "C" NOT NULL,
    code text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    is_claimed boolean NOT NULL,
    transaction_id text COLLATE "C",
    environment text COLLATE "C",
    product_id text COLLATE "C",
    purchased_at timestamptz,
    receipt_sha256 coinledger.sha256 NOT NULL,
    receipt bytea,
    first_at timestamptz NOT NULL,
    last_at timestamptz NOT NULL,
    attempts bigint NOT NULL,
    CONSTRAINT purchase_attempts_are_distinct PRIMARY KEY (account, code, subject),
    CONSTRAINT purchase_attempts_attempts_is_positive CHECK (attempts > 0)
);

CREATE INDEX purchase_attempts_by_transaction
ON coinledger.purchase_attempts (transaction_id)
WHERE transaction_id IS NOT NULL;

-- What may be forgotten one day.
CREATE INDEX purchase_attempts_by_last_at
ON coinledger.purchase_attempts (last_at);
