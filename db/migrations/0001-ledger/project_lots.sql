-- Adds the lots of the events of a lane between two positions, and moves the checkpoint with them.
-- Raises CL001 if the checkpoint is elsewhere: another process has been here.
CREATE FUNCTION coinledger.project_lots(
    p_lane bigint,
    p_from_position bigint,
    p_to_position bigint,
    p_accounts text[],
    p_numbers bigint[],
    p_positions bigint[],
    p_environments text[],
    p_kinds text[],
    p_coins bigint[],
    p_granted_at timestamptz[],
    p_expires_at timestamptz[],
    p_stores text[],
    p_transaction_ids text[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
SECURITY DEFINER
SET search_path = pg_catalog
AS $$
BEGIN
    UPDATE coinledger.projection_checkpoints
    SET position = p_to_position
    WHERE projection = 'lots' AND lane = p_lane AND position = p_from_position;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'CL001',
            MESSAGE = 'the checkpoint has moved',
            DETAIL = json_build_object('lane', p_lane, 'position', p_from_position)::text;
    END IF;

    INSERT INTO coinledger.lots (
        account, number, lane, position, environment, kind, coins, remaining, granted_at,
        expires_at, store, transaction_id
    )
    SELECT lot.account, lot.number, p_lane, lot.position, lot.environment, lot.kind, lot.coins,
        lot.coins, lot.granted_at, lot.expires_at, lot.store, lot.transaction_id
    FROM unnest(
        p_accounts, p_numbers, p_positions, p_environments, p_kinds, p_coins, p_granted_at,
        p_expires_at, p_stores, p_transaction_ids
    ) AS lot (
        account, number, position, environment, kind, coins, granted_at, expires_at, store,
        transaction_id
    );
END;
$$;
