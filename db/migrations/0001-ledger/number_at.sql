-- The number in the bytes from the one at `p_place` on, and where it ends: seven bits in each, the lowest
-- first, and the highest bit set in all but the last; `n` is kept as `2n`, or as `-2n - 1` where that's
-- negative.
CREATE FUNCTION coinledger.number_at(
    p_bytes bytea,
    p_place bigint,
    OUT value bigint,
    OUT next_place bigint
)
LANGUAGE plpgsql
IMMUTABLE
STRICT
SET search_path = pg_catalog
AS $$
DECLARE
    part bigint;
    shift int4 := 0;
BEGIN
    value := 0;
    next_place := p_place;
    LOOP
        part := get_byte(p_bytes, next_place::int4 - 1);
        next_place := next_place + 1;
        value := value | ((part & 127) << shift);
        EXIT WHEN part < 128;
        shift := shift + 7;
    END LOOP;
    value := ((value >> 1) & 9223372036854775807) # -(value & 1);
END;
$$;
