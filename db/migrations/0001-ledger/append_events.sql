-- Appends one batch to one lane: events, the accounts and lots they changed, the purchases, tokens
-- and spends they claimed, and the answers to be given again. All of it, or nothing. An array that
-- would be empty may be NULL, which costs least.
--
-- The first thing it does is to move the lane's head from where the caller believes it to be; that
-- row is fence, lock and counter in one. Raises CL001 if the head is elsewhere: read and decide
-- again. Something claimed meanwhile violates its primary key (23505) or, if a remembered refund was
-- to be taken over, raises CL005: the same applies. Claims, tokens, spends, orders and keys must
-- come sorted, so that two lanes take them in one order.
--
-- Plans are made once a session, perhaps while the tables are empty, and must be right for ever: a
-- look-up by key for each row, never a pass over a table or an index. Arrays are read by index, which
-- costs a quarter less than `unnest` of as many.
CREATE FUNCTION coinledger.append_events(
    p_lane bigint,
    p_expected_head bigint,
    -- Events, in order.
    p_accounts text[],
    p_versions bigint[],
    p_commands bytea[],
    p_types text[],
    p_schema_versions bigint[],
    p_occurred_at timestamptz[],
    p_recorded_at timestamptz[],
    p_payloads bytea[],
    -- Changed accounts; new ones have changed from version 0.
    p_changed_accounts text[],
    p_changed_from_versions bigint[],
    p_changed_versions bigint[],
    p_paid bigint[],
    p_free bigint[],
    p_sandbox_paid bigint[],
    p_sandbox_free bigint[],
    p_lot_counts bigint[],
    p_next_expiries timestamptz[],
    p_sandbox_next_expiries timestamptz[],
    p_details bytea[],
    -- Purchases; those that take a remembered refund over say from which event, else 0.
    p_claim_transaction_ids text[],
    p_claim_environments text[],
    p_claim_stores text[],
    p_claim_accounts text[],
    p_claim_positions bigint[],
    p_claim_from_lanes bigint[],
    p_claim_from_positions bigint[],
    p_tokens text[],
    p_token_accounts text[],
    -- Spends taken back.
    p_spend_lanes bigint[],
    p_spend_positions bigint[],
    p_reversal_positions bigint[],
    -- Orders of the store that were looked up.
    p_order_ids text[],
    p_order_positions bigint[],
    -- New lots.
    p_lot_accounts text[],
    p_lot_numbers bigint[],
    p_lot_positions bigint[],
    p_lot_environments text[],
    p_lot_kinds text[],
    p_lot_coins bigint[],
    p_lot_remaining bigint[],
    p_lot_granted_at timestamptz[],
    p_lot_expires_at timestamptz[],
    p_lot_prices_milliunits bigint[],
    p_lot_currencies text[],
    p_lot_values_out bigint[],
    p_lot_sources text[],
    p_lot_stores text[],
    p_lot_transaction_ids text[],
    p_lot_campaign_ids text[],
    p_lot_ticket_ids text[],
    -- What is left of older lots.
    p_rest_accounts text[],
    p_rest_numbers bigint[],
    p_rest_remaining bigint[],
    p_rest_values_out bigint[],
    -- Answers to requests with an idempotency key.
    p_answer_accounts text[],
    p_answer_keys text[],
    p_answer_requests_sha256 bytea[],
    p_answer_statuses bigint[],
    p_answer_bodies bytea[],
    p_answer_recorded_at timestamptz[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
SECURITY DEFINER
SET search_path = pg_catalog
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
    changed bigint;
    written bigint;
BEGIN
    -- Whoever takes a turn keeps all others here. The first half of the key is "coin".
    PERFORM pg_advisory_xact_lock_shared(1668246894, p_lane::int4);

    UPDATE coinledger.lanes
    SET position = position + coalesce(cardinality(p_payloads), 0)
    WHERE lane = p_lane AND position = p_expected_head;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'CL001',
            MESSAGE = 'the lane has moved',
            DETAIL = json_build_object('lane', p_lane, 'expectedHead', p_expected_head)::text;
    END IF;

    IF cardinality(p_claim_transaction_ids) > 0 THEN
        written := 0;
        IF 0 = ANY (p_claim_from_positions) THEN
            INSERT INTO coinledger.purchases (
                transaction_id, environment, store, account, lane, position
            )
            SELECT p_claim_transaction_ids[i], p_claim_environments[i], p_claim_stores[i],
                p_claim_accounts[i], p_lane, p_claim_positions[i]
            FROM generate_series(1, cardinality(p_claim_transaction_ids)) AS i
            WHERE p_claim_from_positions[i] = 0;
            GET DIAGNOSTICS written = ROW_COUNT;
        END IF;

        IF written < cardinality(p_claim_transaction_ids) THEN
            UPDATE coinledger.purchases
            SET account = p_claim_accounts[i],
                lane = p_lane,
                position = p_claim_positions[i]
            FROM (
                SELECT i, p_claim_transaction_ids[i] AS transaction_id,
                    p_claim_environments[i] AS environment, p_claim_stores[i] AS store,
                    '*' AS account
                FROM generate_series(1, cardinality(p_claim_transaction_ids)) AS i
                WHERE p_claim_from_positions[i] > 0
                OFFSET 0
            ) AS claim
            WHERE purchases.transaction_id = claim.transaction_id
                AND purchases.environment = claim.environment
                AND purchases.store = claim.store
                AND purchases.account = claim.account
                AND purchases.lane = p_claim_from_lanes[i]
                AND purchases.position = p_claim_from_positions[i];
            GET DIAGNOSTICS changed = ROW_COUNT;
            IF written + changed <> cardinality(p_claim_transaction_ids) THEN
                RAISE EXCEPTION USING
                    ERRCODE = 'CL005',
                    MESSAGE = 'a remembered refund was taken over meanwhile',
                    DETAIL = json_build_object('lane', p_lane)::text;
            END IF;
        END IF;
    END IF;

    IF cardinality(p_tokens) > 0 THEN
        INSERT INTO coinledger.app_account_tokens (token, account)
        SELECT p_tokens[i], p_token_accounts[i]
        FROM generate_series(1, cardinality(p_tokens)) AS i;
    END IF;

    IF cardinality(p_spend_positions) > 0 THEN
        INSERT INTO coinledger.spend_reversals (spend_lane, spend_position, lane, position)
        SELECT p_spend_lanes[i], p_spend_positions[i], p_lane, p_reversal_positions[i]
        FROM generate_series(1, cardinality(p_spend_positions)) AS i;
    END IF;

    IF cardinality(p_order_ids) > 0 THEN
        INSERT INTO coinledger.orders (order_id, lane, position)
        SELECT p_order_ids[i], p_lane, p_order_positions[i]
        FROM generate_series(1, cardinality(p_order_ids)) AS i;
    END IF;

    IF cardinality(p_payloads) > 0 THEN
        INSERT INTO coinledger.events (
            lane, position, account, version, command, type, schema_version, occurred_at,
            recorded_at, payload
        )
        SELECT p_lane, p_expected_head + i, p_accounts[i], p_versions[i], p_commands[i],
            p_types[i], p_schema_versions[i], p_occurred_at[i], p_recorded_at[i], p_payloads[i]
        FROM generate_series(1, cardinality(p_payloads)) AS i;
    END IF;

    IF cardinality(p_changed_accounts) > 0 THEN
        written := 0;
        IF 0 = ANY (p_changed_from_versions) THEN
            INSERT INTO coinledger.accounts (
                account, lane, version, paid, free, sandbox_paid, sandbox_free, lot_count,
                next_expiry, sandbox_next_expiry, details
            )
            SELECT p_changed_accounts[i], p_lane, p_changed_versions[i], p_paid[i], p_free[i],
                p_sandbox_paid[i], p_sandbox_free[i], p_lot_counts[i], p_next_expiries[i],
                p_sandbox_next_expiries[i], p_details[i]
            FROM generate_series(1, cardinality(p_changed_accounts)) AS i
            WHERE p_changed_from_versions[i] = 0;
            GET DIAGNOSTICS written = ROW_COUNT;
        END IF;

        IF written < cardinality(p_changed_accounts) THEN
            UPDATE coinledger.accounts
            SET version = p_changed_versions[i],
                paid = p_paid[i],
                free = p_free[i],
                sandbox_paid = p_sandbox_paid[i],
                sandbox_free = p_sandbox_free[i],
                lot_count = p_lot_counts[i],
                next_expiry = p_next_expiries[i],
                sandbox_next_expiry = p_sandbox_next_expiries[i],
                details = p_details[i]
            FROM (
                -- The key comes with the rows, and OFFSET keeps it there: as a constant the lane
                -- would let the planner read its whole index while the table is small, and go on
                -- so.
                SELECT i, p_changed_accounts[i] AS account, p_lane AS lane
                FROM generate_series(1, cardinality(p_changed_accounts)) AS i
                OFFSET 0
            ) AS changed_account
            WHERE accounts.account = changed_account.account
                AND accounts.lane = changed_account.lane
                AND accounts.version = p_changed_from_versions[i];
            GET DIAGNOSTICS changed = ROW_COUNT;
            IF written + changed <> cardinality(p_changed_accounts) THEN
                RAISE EXCEPTION USING
                    ERRCODE = 'CL002',
                    MESSAGE = 'an account is not at the version its state was decided from',
                    DETAIL = json_build_object('lane', p_lane)::text;
            END IF;
        END IF;
    END IF;

    IF cardinality(p_lot_numbers) > 0 THEN
        INSERT INTO coinledger.lots (
            account, number, lane, position, environment, kind, coins, remaining, granted_at,
            expires_at, price_milliunits, currency, value_out, source, store, transaction_id,
            campaign_id, ticket_id, is_open
        )
        SELECT p_lot_accounts[i], p_lot_numbers[i], p_lane, p_lot_positions[i],
            p_lot_environments[i], p_lot_kinds[i], p_lot_coins[i], p_lot_remaining[i],
            p_lot_granted_at[i], p_lot_expires_at[i], p_lot_prices_milliunits[i],
            p_lot_currencies[i], p_lot_values_out[i], p_lot_sources[i], p_lot_stores[i],
            p_lot_transaction_ids[i], p_lot_campaign_ids[i], p_lot_ticket_ids[i],
            p_lot_remaining[i] > 0
        FROM generate_series(1, cardinality(p_lot_numbers)) AS i;
    END IF;

    IF cardinality(p_rest_numbers) > 0 THEN
        UPDATE coinledger.lots
        SET remaining = p_rest_remaining[i],
            value_out = p_rest_values_out[i],
            is_open = p_rest_remaining[i] > 0
        FROM (
            -- One that is given back to may be closed.
            SELECT i, p_rest_accounts[i] AS account, half.is_open, p_rest_numbers[i] AS number,
                p_lane AS lane
            FROM generate_series(1, cardinality(p_rest_numbers)) AS i
            CROSS JOIN (VALUES (true), (false)) AS half (is_open)
            OFFSET 0
        ) AS changed_lot
        WHERE lots.account = changed_lot.account
            AND lots.is_open = changed_lot.is_open
            AND lots.number = changed_lot.number
            AND lots.lane = changed_lot.lane;
        GET DIAGNOSTICS changed = ROW_COUNT;
        IF changed <> cardinality(p_rest_numbers) THEN
            RAISE EXCEPTION USING
                ERRCODE = 'CL002',
                MESSAGE = 'a lot that was drawn from is not there',
                DETAIL = json_build_object('lane', p_lane)::text;
        END IF;
    END IF;

    IF cardinality(p_answer_keys) > 0 THEN
        INSERT INTO coinledger.idempotency_answers (
            account, key, lane, request_sha256, status, body, recorded_at
        )
        SELECT p_answer_accounts[i], p_answer_keys[i], p_lane, p_answer_requests_sha256[i],
            p_answer_statuses[i], p_answer_bodies[i], p_answer_recorded_at[i]
        FROM generate_series(1, cardinality(p_answer_keys)) AS i;
    END IF;
END;
$$;
