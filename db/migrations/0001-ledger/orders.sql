-- Which event says what an order of the store holds: each is looked up once, for ever.
CREATE TABLE coinledger.orders (
    order_id text COLLATE "C" NOT NULL,
    lane bigint NOT NULL,
    position bigint NOT NULL,
    CONSTRAINT orders_are_recorded_once PRIMARY KEY (order_id)
);
