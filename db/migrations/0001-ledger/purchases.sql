-- The claim on a store's transaction: granted once, to one account, by the event at `position`.
-- A purchase that the store issued anew has a row for its original transaction, too.
-- The account `*` is nobody's: what is at `position` then is the store's word on the refund of a
-- purchase that nobody has. A grant takes such a row over, and so does a later word.
CREATE TABLE coinledger.purchases (
    transaction_id text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    store text COLLATE "C" NOT NULL,
    account text COLLATE "C" NOT NULL,
    lane bigint NOT NULL,
    position bigint NOT NULL,
    CONSTRAINT purchases_are_granted_once PRIMARY KEY (transaction_id, environment, store)
);
