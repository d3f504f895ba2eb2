-- The lots in an account's row. Each is a byte of flags (1 sandbox, 2 free, 4 expires, 8 has a price, 16
-- coins have left) and then numbers as `number_at` reads them: number, position, coins; if coins have
-- left, remaining and value_out; if it expires, when, in milliseconds since 1970; if it has a price, that,
-- and the currency with its length before it.
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
    milliseconds bigint;
    length bigint;
BEGIN
    WHILE place <= octet_length(p_lots) LOOP
        flags := get_byte(p_lots, place::int4 - 1);
        environment := CASE WHEN flags & 1 > 0 THEN 'Sandbox' ELSE 'Production' END;
        kind := CASE WHEN flags & 2 > 0 THEN 'free' ELSE 'paid' END;
        SELECT * INTO number, place FROM coinledger.number_at(p_lots, place + 1);
        SELECT * INTO position, place FROM coinledger.number_at(p_lots, place);
        SELECT * INTO coins, place FROM coinledger.number_at(p_lots, place);
        remaining := coins;
        value_out := 0;
        IF flags & 16 > 0 THEN
            SELECT * INTO remaining, place FROM coinledger.number_at(p_lots, place);
            SELECT * INTO value_out, place FROM coinledger.number_at(p_lots, place);
        END IF;
        expires_at := NULL;
        IF flags & 4 > 0 THEN
            SELECT * INTO milliseconds, place FROM coinledger.number_at(p_lots, place);
            expires_at := timestamptz 'epoch' + milliseconds * interval '1 millisecond';
        END IF;
        price_milliunits := NULL;
        currency := NULL;
        IF flags & 8 > 0 THEN
            SELECT * INTO price_milliunits, place FROM coinledger.number_at(p_lots, place);
            SELECT * INTO length, place FROM coinledger.number_at(p_lots, place);
            currency := convert_from(
                substring(p_lots FROM place::int4 FOR length::int4), 'UTF8');
            place := place + length;
        END IF;
        RETURN NEXT;
    END LOOP;
END;
$$;
