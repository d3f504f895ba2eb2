-- The lots in an account's row. Each is a byte of flags (1 sandbox, 2 free, 4 expires, 8 has a price)
-- and then numbers of 8 bytes, the highest first: number, position, coins, remaining, value_out; if it
-- expires, when, in milliseconds since 1970; if it has a price, that, and the currency with its length
-- in 4 bytes.
CREATE FUNCTION coinledger.open_lots(p_lots bytea)
RETURNS TABLE (
    number bigint,
    "position" bigint,
    environment text,
    kind text,
    coins bigint,
    remaining bigint,
    value_out bigint,
    expires_at timestamptz,
    price_milliunits bigint,
    currency text
)
LANGUAGE plpgsql
IMMUTABLE
STRICT
SET search_path = pg_catalog
AS $$
DECLARE
    flags bigint;
    place bigint := 1;
    length bigint;
BEGIN
    WHILE place <= octet_length(p_lots) LOOP
        flags := get_byte(p_lots, place::int4 - 1);
        environment := CASE WHEN flags & 1 > 0 THEN 'Sandbox' ELSE 'Production' END;
        kind := CASE WHEN flags & 2 > 0 THEN 'free' ELSE 'paid' END;
        number := coinledger.number_at(p_lots, place + 1);
        position := coinledger.number_at(p_lots, place + 9);
        coins := coinledger.number_at(p_lots, place + 17);
        remaining := coinledger.number_at(p_lots, place + 25);
        value_out := coinledger.number_at(p_lots, place + 33);
        place := place + 41;
        expires_at := NULL;
        IF flags & 4 > 0 THEN
            expires_at := timestamptz 'epoch'
                + coinledger.number_at(p_lots, place) * interval '1 millisecond';
            place := place + 8;
        END IF;
        price_milliunits := NULL;
        currency := NULL;
        IF flags & 8 > 0 THEN
            price_milliunits := coinledger.number_at(p_lots, place);
            length := coinledger.number_at(p_lots, place + 8, 4);
            currency := convert_from(
                substring(p_lots FROM place::int4 + 12 FOR length::int4), 'UTF8');
            place := place + 12 + length;
        END IF;
        RETURN NEXT;
    END LOOP;
END;
$$;
