-- The claim on a store's transaction: granted once, to one account, by the event at `position`.
-- A purchase that the store issued anew has a row for its original transaction, too.
CREATE TABLE coinledger.purchases (
    transaction_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    store text COLLATE "C" NOT NULL,
    account text COLLATE "C" NOT NULL,
    lane bigint NOT NULL,
    position bigint NOT NULL,
    CONSTRAINT purchases_are_granted_once PRIMARY KEY (transaction_id, environment, store)
);
