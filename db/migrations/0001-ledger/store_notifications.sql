-- The store's notifications: a queue until what they say is done, and then what the support desk
-- finds them in. `signed_payload` is what was received, byte for byte.
CREATE TABLE coinledger.store_notifications (
    number bigint GENERATED ALWAYS AS IDENTITY,
    notification_uuid text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    subtype text COLLATE "C",
    signed_at timestamptz NOT NULL,
    received_at timestamptz NOT NULL,
    transaction_id text COLLATE "C",
    original_transaction_id text COLLATE "C",
    product_id text COLLATE "C",
    app_account_token text COLLATE "C",
    signed_payload bytea NOT NULL,
    state text COLLATE "C" NOT NULL DEFAULT 'pending',
    attempts bigint NOT NULL DEFAULT 0,
    next_attempt_at timestamptz NOT NULL,
    outcome text COLLATE "C",
    detail text,
    ended_at timestamptz,
    CONSTRAINT store_notifications_are_kept_once PRIMARY KEY (notification_uuid),
    CONSTRAINT store_notifications_state_is_known CHECK (state IN ('pending', 'done', 'dead')),
    CONSTRAINT store_notifications_end_with_an_outcome CHECK (
        (state = 'pending') = (outcome IS NULL) AND (outcome IS NULL) = (ended_at IS NULL)
    ),
    CONSTRAINT store_notifications_name_whole_transactions CHECK (
        (transaction_id IS NULL) = (original_transaction_id IS NULL)
        AND (transaction_id IS NULL) = (product_id IS NULL)
    ),
    CONSTRAINT store_notifications_signed_payload_is_bounded CHECK (
        octet_length(signed_payload) <= 262144
    ),
    CONSTRAINT store_notifications_detail_is_short CHECK (octet_length(detail) <= 4096)
);

-- What is still to be done, in the order in which it's taken.
CREATE INDEX store_notifications_pending
ON coinledger.store_notifications (signed_at)
WHERE state = 'pending';

CREATE INDEX store_notifications_by_state
ON coinledger.store_notifications (state, number);

CREATE INDEX store_notifications_by_transaction
ON coinledger.store_notifications (transaction_id)
WHERE transaction_id IS NOT NULL;

CREATE INDEX store_notifications_by_original_transaction
ON coinledger.store_notifications (original_transaction_id)
WHERE original_transaction_id IS NOT NULL;

CREATE INDEX store_notifications_by_token
ON coinledger.store_notifications (app_account_token)
WHERE app_account_token IS NOT NULL;

-- What may be forgotten one day.
CREATE INDEX store_notifications_done
ON coinledger.store_notifications (ended_at)
WHERE state = 'done' AND outcome <> 'unclaimed';
