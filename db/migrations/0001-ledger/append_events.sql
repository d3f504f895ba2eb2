-- Appends one batch to one lane: events, the accounts and lots they changed, the purchases, tokens
-- and spends they claimed, and the answers to be given again. All of it, or nothing. An array that
-- would be empty may be NULL, which costs least.
--
-- The first thing it does is to move the lane's head from where the caller believes it to be; that
-- row is fence, lock and counter in one. Raises CL001 if the head is elsewhere, or another batch than
-- the caller's has put it there: read and decide again. So a batch may be sent before it's known
-- whether the one that it follows was appended. Something claimed meanwhile violates its primary key (23505) or, if a remembered refund was
-- to be taken over, raises CL005: the same applies. Claims, tokens, spends, orders and keys must
-- come sorted, so that two lanes take them in one order.
--
-- Plans are made once a session, perhaps while the tables are empty, and must be right for ever: a
-- look-up by key for each row, never a pass over a table or an index. The session has to see to that
-- with its settings; made here, they would cost each batch of one a thirtieth. Rows come as rows:
-- an array for each column costs a batch its way in, and each statement its way out.
CREATE FUNCTION coinledger.append_events(
    p_lane bigint,
    p_expected_head bigint,
    -- The batch that must have put it there, and this one.
    p_expected_batch bigint,
    p_batch bigint,
    -- In order.
    p_events coinledger.new_event[],
    p_accounts coinledger.changed_account[],
    p_purchases coinledger.claimed_purchase[],
    p_tokens text[],
    p_token_accounts text[],
    -- Spends taken back.
    p_spend_lanes bigint[],
    p_spend_positions bigint[],
    p_reversal_positions bigint[],
    -- Orders of the store that were looked up.
    p_order_ids text[],
    p_order_positions bigint[],
    -- Lots that leave their account's row, or never were there.
    p_older_lots coinledger.older_lot[],
    -- What is left of such lots of earlier batches.
    p_changed_lots coinledger.changed_lot[],
    -- To requests with an idempotency key.
    p_answers coinledger.new_answer[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
SECURITY DEFINER
SET search_path = pg_catalog
AS $$
DECLARE
    changed bigint;
    written bigint;
BEGIN
    -- Whoever takes a turn keeps all others here. The first half of the key is "coin". An expression
    -- costs less than a statement, and this one's value is never null.
    IF pg_advisory_xact_lock_shared(1668246894, p_lane::int4) IS NULL THEN
        RAISE EXCEPTION 'the lane could not be locked';
    END IF;

    UPDATE coinledger.lanes
    SET position = position + coalesce(cardinality(p_events), 0),
        batch = p_batch
    WHERE lane = p_lane AND position = p_expected_head AND batch = p_expected_batch;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'CL001',
            MESSAGE = 'the lane has moved',
            DETAIL = json_build_object('lane', p_lane, 'expectedHead', p_expected_head)::text;
    END IF;

    IF p_purchases IS NOT NULL THEN
        INSERT INTO coinledger.purchases (
            transaction_id, environment, store, account, lane, position
        )
        SELECT transaction_id, environment, store, account, p_lane, position
        FROM unnest(p_purchases)
        WHERE from_position = 0;
        GET DIAGNOSTICS written = ROW_COUNT;

        IF written < cardinality(p_purchases) THEN
            UPDATE coinledger.purchases
            SET account = claim.account,
                lane = p_lane,
                position = claim.position
            FROM (
                SELECT *, '*' AS owner
                FROM unnest(p_purchases)
                WHERE from_position > 0
                OFFSET 0
            ) AS claim
            WHERE purchases.transaction_id = claim.transaction_id
                AND purchases.environment = claim.environment
                AND purchases.store = claim.store
                AND purchases.account = claim.owner
                AND purchases.lane = claim.from_lane
                AND purchases.position = claim.from_position;
            GET DIAGNOSTICS changed = ROW_COUNT;
            IF written + changed <> cardinality(p_purchases) THEN
                RAISE EXCEPTION USING
                    ERRCODE = 'CL005',
                    MESSAGE = 'a remembered refund was taken over meanwhile',
                    DETAIL = json_build_object('lane', p_lane)::text;
            END IF;
        END IF;
    END IF;

    IF p_tokens IS NOT NULL THEN
        INSERT INTO coinledger.app_account_tokens (token, account)
        SELECT p_tokens[i], p_token_accounts[i]
        FROM generate_series(1, cardinality(p_tokens)) AS i;
    END IF;

    IF p_spend_positions IS NOT NULL THEN
        INSERT INTO coinledger.spend_reversals (spend_lane, spend_position, lane, position)
        SELECT p_spend_lanes[i], p_spend_positions[i], p_lane, p_reversal_positions[i]
        FROM generate_series(1, cardinality(p_spend_positions)) AS i;
    END IF;

    IF p_order_ids IS NOT NULL THEN
        INSERT INTO coinledger.orders (order_id, lane, position)
        SELECT p_order_ids[i], p_lane, p_order_positions[i]
        FROM generate_series(1, cardinality(p_order_ids)) AS i;
    END IF;

    IF p_events IS NOT NULL THEN
        INSERT INTO coinledger.events (
            lane, position, account, version, command, type, schema_version, occurred_at,
            recorded_at, payload
        )
        SELECT p_lane, p_expected_head + place, account, version, command, type, schema_version,
            occurred_at, recorded_at, payload
        FROM unnest(p_events) WITH ORDINALITY AS event (
            account, version, command, type, schema_version, occurred_at, recorded_at, payload,
            place
        );
    END IF;

    IF p_accounts IS NOT NULL THEN
        -- New ones match nothing.
        UPDATE coinledger.accounts
        SET version = changed_account.version,
            paid = changed_account.paid,
            free = changed_account.free,
            sandbox_paid = changed_account.sandbox_paid,
            sandbox_free = changed_account.sandbox_free,
            lot_count = changed_account.lot_count,
            next_expiry = changed_account.next_expiry,
            sandbox_next_expiry = changed_account.sandbox_next_expiry,
            open_lots = changed_account.open_lots,
            details = changed_account.details
        FROM (
            -- The key comes with the rows, and OFFSET keeps it there: as a constant the lane would
            -- let the planner read its whole index while the table is small, and go on so.
            SELECT *, p_lane AS lane
            FROM unnest(p_accounts)
            WHERE from_version > 0
            OFFSET 0
        ) AS changed_account
        WHERE accounts.account = changed_account.account
            AND accounts.lane = changed_account.lane
            AND accounts.version = changed_account.from_version;
        GET DIAGNOSTICS changed = ROW_COUNT;

        IF changed < cardinality(p_accounts) THEN
            INSERT INTO coinledger.accounts (
                account, lane, version, paid, free, sandbox_paid, sandbox_free, lot_count,
                next_expiry, sandbox_next_expiry, open_lots, details
            )
            SELECT account, p_lane, version, paid, free, sandbox_paid, sandbox_free, lot_count,
                next_expiry, sandbox_next_expiry, open_lots, details
            FROM unnest(p_accounts)
            WHERE from_version = 0;
            GET DIAGNOSTICS written = ROW_COUNT;
            IF written + changed <> cardinality(p_accounts) THEN
                RAISE EXCEPTION USING
                    ERRCODE = 'CL002',
                    MESSAGE = 'an account is not at the version its state was decided from',
                    DETAIL = json_build_object('lane', p_lane)::text;
            END IF;
        END IF;
    END IF;

    IF p_older_lots IS NOT NULL THEN
        INSERT INTO coinledger.older_lots (
            account, number, lane, position, environment, kind, coins, remaining, expires_at,
            price_milliunits, currency, value_out, is_open
        )
        SELECT account, number, p_lane, position, environment, kind, coins, remaining, expires_at,
            price_milliunits, currency, value_out, remaining > 0
        FROM unnest(p_older_lots);
    END IF;

    IF p_changed_lots IS NOT NULL THEN
        UPDATE coinledger.older_lots
        SET remaining = changed_lot.remaining,
            value_out = changed_lot.value_out,
            is_open = changed_lot.remaining > 0
        FROM (
            SELECT *, true AS was_open, p_lane AS lane
            FROM unnest(p_changed_lots)
            OFFSET 0
        ) AS changed_lot
        WHERE older_lots.account = changed_lot.account
            AND older_lots.is_open = changed_lot.was_open
            AND older_lots.number = changed_lot.number
            AND older_lots.lane = changed_lot.lane;
        GET DIAGNOSTICS changed = ROW_COUNT;

        IF changed < cardinality(p_changed_lots) THEN
            -- What is given back to may be closed. Here are those, too, that have just been closed.
            UPDATE coinledger.older_lots
            SET remaining = changed_lot.remaining,
                value_out = changed_lot.value_out,
                is_open = changed_lot.remaining > 0
            FROM (
                SELECT *, false AS was_open, p_lane AS lane
                FROM unnest(p_changed_lots)
                OFFSET 0
            ) AS changed_lot
            WHERE older_lots.account = changed_lot.account
                AND older_lots.is_open = changed_lot.was_open
                AND older_lots.number = changed_lot.number
                AND older_lots.lane = changed_lot.lane;

            SELECT count(*)
            INTO changed
            FROM (
                SELECT *, remaining > 0 AS is_open, p_lane AS lane
                FROM unnest(p_changed_lots)
                OFFSET 0
            ) AS changed_lot
            JOIN coinledger.older_lots USING (account, is_open, number, lane);
            IF changed <> cardinality(p_changed_lots) THEN
                RAISE EXCEPTION USING
                    ERRCODE = 'CL002',
                    MESSAGE = 'a lot that was drawn from is not there',
                    DETAIL = json_build_object('lane', p_lane)::text;
            END IF;
        END IF;
    END IF;

    IF p_answers IS NOT NULL THEN
        INSERT INTO coinledger.idempotency_answers (
            account, key, lane, request_sha256, status, body, recorded_at
        )
        SELECT account, key, p_lane, request_sha256, status, body, recorded_at
        FROM unnest(p_answers);
    END IF;
END;
$$;
