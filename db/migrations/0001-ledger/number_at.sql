-- The number in `p_length` bytes from the one at `p_place` on, the highest first.
CREATE FUNCTION coinledger.number_at(
    p_bytes bytea,
    p_place bigint,
    p_length bigint DEFAULT 8
)
RETURNS bigint
LANGUAGE sql
IMMUTABLE
STRICT
AS $$
    SELECT ('x' || lpad(
        encode(substring(p_bytes FROM p_place::int4 FOR p_length::int4), 'hex'), 16, '0'
    ))::bit(64)::bigint
$$;
