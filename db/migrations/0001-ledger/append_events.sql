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
-- look-up by key for each row, never a pass over a table or an index.
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
            SELECT claim.transaction_id, claim.environment, claim.store, claim.account, p_lane,
                claim.position
            FROM unnest(
                p_claim_transaction_ids, p_claim_environments, p_claim_stores, p_claim_accounts,
                p_claim_positions, p_claim_from_positions
            ) AS claim (transaction_id, environment, store, account, position, from_position)
            WHERE claim.from_position = 0;
            GET DIAGNOSTICS written = ROW_COUNT;
        END IF;

        IF written < cardinality(p_claim_transaction_ids) THEN
            UPDATE coinledger.purchases
            SET account = claim.account,
                lane = p_lane,
                position = claim.position
            FROM (
                SELECT taken_over.*
                FROM unnest(
                    p_claim_transaction_ids, p_claim_environments, p_claim_stores,
                    p_claim_accounts, p_claim_positions, p_claim_from_lanes,
                    p_claim_from_positions
                ) AS taken_over (
                    transaction_id, environment, store, account, position, from_lane,
                    from_position
                )
                WHERE taken_over.from_position > 0
                OFFSET 0
            ) AS claim
            WHERE purchases.transaction_id = claim.transaction_id
                AND purchases.environment = claim.environment
                AND purchases.store = claim.store
                AND purchases.account = '*'
                AND purchases.lane = claim.from_lane
                AND purchases.position = claim.from_position;
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
        SELECT link.token, link.account
        FROM unnest(p_tokens, p_token_accounts) AS link (token, account);
    END IF;

    IF cardinality(p_spend_positions) > 0 THEN
        INSERT INTO coinledger.spend_reversals (spend_lane, spend_position, lane, position)
        SELECT reversal.spend_lane, reversal.spend_position, p_lane, reversal.position
        FROM unnest(p_spend_lanes, p_spend_positions, p_reversal_positions)
            AS reversal (spend_lane, spend_position, position);
    END IF;

    IF cardinality(p_order_ids) > 0 THEN
        INSERT INTO coinledger.orders (order_id, lane, position)
        SELECT looked_up.order_id, p_lane, looked_up.position
        FROM unnest(p_order_ids, p_order_positions) AS looked_up (order_id, position);
    END IF;

    IF cardinality(p_payloads) > 0 THEN
        INSERT INTO coinledger.events (
            lane, position, account, version, command, type, schema_version, occurred_at,
            recorded_at, payload
        )
        SELECT p_lane, p_expected_head + event.ordinality, event.account, event.version,
            event.command, event.type, event.schema_version, event.occurred_at,
            event.recorded_at, event.payload
        FROM unnest(
            p_accounts, p_versions, p_commands, p_types, p_schema_versions, p_occurred_at,
            p_recorded_at, p_payloads
        ) WITH ORDINALITY AS event (
            account, version, command, type, schema_version, occurred_at, recorded_at, payload,
            ordinality
        );
    END IF;

    IF cardinality(p_changed_accounts) > 0 THEN
        written := 0;
        IF 0 = ANY (p_changed_from_versions) THEN
            INSERT INTO coinledger.accounts (
                account, lane, version, paid, free, sandbox_paid, sandbox_free, lot_count,
                next_expiry, sandbox_next_expiry, details
            )
            SELECT state.account, p_lane, state.version, state.paid, state.free,
                state.sandbox_paid, state.sandbox_free, state.lot_count, state.next_expiry,
                state.sandbox_next_expiry, state.details
            FROM unnest(
                p_changed_accounts, p_changed_from_versions, p_changed_versions, p_paid, p_free,
                p_sandbox_paid, p_sandbox_free, p_lot_counts, p_next_expiries,
                p_sandbox_next_expiries, p_details
            ) AS state (
                account, from_version, version, paid, free, sandbox_paid, sandbox_free,
                lot_count, next_expiry, sandbox_next_expiry, details
            )
            WHERE state.from_version = 0;
            GET DIAGNOSTICS written = ROW_COUNT;
        END IF;

        IF written < cardinality(p_changed_accounts) THEN
            UPDATE coinledger.accounts
            SET version = state.version,
                paid = state.paid,
                free = state.free,
                sandbox_paid = state.sandbox_paid,
                sandbox_free = state.sandbox_free,
                lot_count = state.lot_count,
                next_expiry = state.next_expiry,
                sandbox_next_expiry = state.sandbox_next_expiry,
                details = state.details
            FROM (
                -- The lane comes with the rows, and OFFSET keeps it there: as a constant it would
                -- let the planner read the lane's whole index while the table is small, and go on
                -- so.
                SELECT p_lane AS lane, changed_account.*
                FROM unnest(
                    p_changed_accounts, p_changed_from_versions, p_changed_versions, p_paid,
                    p_free, p_sandbox_paid, p_sandbox_free, p_lot_counts, p_next_expiries,
                    p_sandbox_next_expiries, p_details
                ) AS changed_account (
                    account, from_version, version, paid, free, sandbox_paid, sandbox_free,
                    lot_count, next_expiry, sandbox_next_expiry, details
                )
                OFFSET 0
            ) AS state
            WHERE accounts.account = state.account
                AND accounts.lane = state.lane
                AND accounts.version = state.from_version;
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
            campaign_id, ticket_id
        )
        SELECT lot.account, lot.number, p_lane, lot.position, lot.environment, lot.kind, lot.coins,
            lot.remaining, lot.granted_at, lot.expires_at, lot.price_milliunits, lot.currency,
            lot.value_out, lot.source, lot.store, lot.transaction_id, lot.campaign_id,
            lot.ticket_id
        FROM unnest(
            p_lot_accounts, p_lot_numbers, p_lot_positions, p_lot_environments, p_lot_kinds,
            p_lot_coins, p_lot_remaining, p_lot_granted_at, p_lot_expires_at,
            p_lot_prices_milliunits, p_lot_currencies, p_lot_values_out, p_lot_sources,
            p_lot_stores, p_lot_transaction_ids, p_lot_campaign_ids, p_lot_ticket_ids
        ) AS lot (
            account, number, position, environment, kind, coins, remaining, granted_at,
            expires_at, price_milliunits, currency, value_out, source, store, transaction_id,
            campaign_id, ticket_id
        );
    END IF;

    IF cardinality(p_rest_numbers) > 0 THEN
        UPDATE coinledger.lots
        SET remaining = rest.remaining,
            value_out = rest.value_out
        FROM (
            SELECT p_lane AS lane, changed_lot.*
            FROM unnest(p_rest_accounts, p_rest_numbers, p_rest_remaining, p_rest_values_out)
                AS changed_lot (account, number, remaining, value_out)
            OFFSET 0
        ) AS rest
        WHERE lots.account = rest.account
            AND lots.number = rest.number
            AND lots.lane = rest.lane;
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
        SELECT answer.account, answer.key, p_lane, answer.request_sha256, answer.status,
            answer.body, answer.recorded_at
        FROM unnest(
            p_answer_accounts, p_answer_keys, p_answer_requests_sha256, p_answer_statuses,
            p_answer_bodies, p_answer_recorded_at
        ) AS answer (account, key, request_sha256, status, body, recorded_at);
    END IF;
END;
$$;
