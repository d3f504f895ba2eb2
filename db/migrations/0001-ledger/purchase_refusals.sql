-- Verified purchases that were not granted, for the support desk: one row a purchase, account and
-- reason, however often it was posted. Holds no receipt.
CREATE TABLE coinledger.purchase_refusals (
    transaction_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    store text COLLATE "C" NOT NULL,
    account text COLLATE "C" NOT NULL,
    code text COLLATE "C" NOT NULL,
    product_id text COLLATE "C" NOT NULL,
    first_at timestamptz NOT NULL,
    last_at timestamptz NOT NULL,
    attempts bigint NOT NULL,
    CONSTRAINT purchase_refusals_are_distinct PRIMARY KEY (
        transaction_id, environment, store, account, code
    ),
    CONSTRAINT purchase_refusals_attempts_is_positive CHECK (attempts > 0)
);
