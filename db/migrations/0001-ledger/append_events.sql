-- Appends the events of one batch to one lane, with the accounts they changed and the purchases and
-- tokens they claimed: all of it, or nothing.
--
-- The first thing it does is to move the lane's head from where the caller believes it to be; that
-- row is fence, lock and counter in one. Raises CL001 if the head is elsewhere: read and decide
-- again. A purchase or token claimed meanwhile violates its primary key (23505): the same applies.
-- Claims must come sorted, so that two lanes take them in one order.
--
-- Plans are made once a session, perhaps while the tables are empty, and must be right for ever: a
-- look-up by key for each row, never a pass over a table or an index.
CREATE FUNCTION coinledger.append_events(
    p_lane bigint,
    p_expected_head bigint,
    p_accounts text[],
    p_versions bigint[],
    p_commands bytea[],
    p_types text[],
    p_schema_versions bigint[],
    p_occurred_at timestamptz[],
    p_recorded_at timestamptz[],
    p_payloads bytea[],
    p_changed_accounts text[],
    p_changed_from_versions bigint[],
    p_changed_versions bigint[],
    p_paid bigint[],
    p_free bigint[],
    p_sandbox_paid bigint[],
    p_sandbox_free bigint[],
    p_lot_counts bigint[],
    p_claim_transaction_ids text[],
    p_claim_environments text[],
    p_claim_stores text[],
    p_claim_accounts text[],
    p_claim_positions bigint[],
    p_tokens text[],
    p_token_accounts text[]
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
    UPDATE coinledger.lanes
    SET position = position + cardinality(p_payloads)
    WHERE lane = p_lane AND position = p_expected_head;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'CL001',
            MESSAGE = 'the lane has moved',
            DETAIL = json_build_object('lane', p_lane, 'expectedHead', p_expected_head)::text;
    END IF;

    IF cardinality(p_claim_transaction_ids) > 0 THEN
        INSERT INTO coinledger.purchases (
            transaction_id, environment, store, account, lane, position
        )
        SELECT claim.transaction_id, claim.environment, claim.store, claim.account, p_lane,
            claim.position
        FROM unnest(
            p_claim_transaction_ids, p_claim_environments, p_claim_stores, p_claim_accounts,
            p_claim_positions
        ) AS claim (transaction_id, environment, store, account, position);
    END IF;

    IF cardinality(p_tokens) > 0 THEN
        INSERT INTO coinledger.app_account_tokens (token, account)
        SELECT link.token, link.account
        FROM unnest(p_tokens, p_token_accounts) AS link (token, account);
    END IF;

    INSERT INTO coinledger.events (
        lane, position, account, version, command, type, schema_version, occurred_at, recorded_at,
        payload
    )
    SELECT p_lane, p_expected_head + event.ordinality, event.account, event.version, event.command,
        event.type, event.schema_version, event.occurred_at, event.recorded_at, event.payload
    FROM unnest(
        p_accounts, p_versions, p_commands, p_types, p_schema_versions, p_occurred_at,
        p_recorded_at, p_payloads
    ) WITH ORDINALITY AS event (
        account, version, command, type, schema_version, occurred_at, recorded_at, payload,
        ordinality
    );

    INSERT INTO coinledger.accounts (
        account, lane, version, paid, free, sandbox_paid, sandbox_free, lot_count
    )
    SELECT state.account, p_lane, state.version, state.paid, state.free, state.sandbox_paid,
        state.sandbox_free, state.lot_count
    FROM unnest(
        p_changed_accounts, p_changed_from_versions, p_changed_versions, p_paid, p_free,
        p_sandbox_paid, p_sandbox_free, p_lot_counts
    ) AS state (
        account, from_version, version, paid, free, sandbox_paid, sandbox_free, lot_count
    )
    WHERE state.from_version = 0;
    GET DIAGNOSTICS written = ROW_COUNT;

    IF written < cardinality(p_changed_accounts) THEN
        UPDATE coinledger.accounts
        SET version = state.version,
            paid = state.paid,
            free = state.free,
            sandbox_paid = state.sandbox_paid,
            sandbox_free = state.sandbox_free,
            lot_count = state.lot_count
        FROM (
            -- The lane comes with the rows, and OFFSET keeps it there: as a constant it would let
            -- the planner read the lane's whole index while the table is small, and go on so.
            SELECT p_lane AS lane, changed_account.*
            FROM unnest(
                p_changed_accounts, p_changed_from_versions, p_changed_versions, p_paid, p_free,
                p_sandbox_paid, p_sandbox_free, p_lot_counts
            ) AS changed_account (
                account, from_version, version, paid, free, sandbox_paid, sandbox_free, lot_count
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
END;
$$;
