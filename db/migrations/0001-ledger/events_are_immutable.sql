-- Refuses every UPDATE, DELETE and TRUNCATE of events, whoever asks.
CREATE FUNCTION coinledger.events_are_immutable()
RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog
AS $$
BEGIN
    RAISE EXCEPTION USING
        ERRCODE = 'CL003',
        MESSAGE = 'events are immutable',
        DETAIL = json_build_object('operation', TG_OP)::text;
END;
$$;

CREATE TRIGGER events_refuse_update_and_delete
BEFORE UPDATE OR DELETE ON coinledger.events
FOR EACH ROW EXECUTE FUNCTION coinledger.events_are_immutable();

CREATE TRIGGER events_refuse_truncate
BEFORE TRUNCATE ON coinledger.events
FOR EACH STATEMENT EXECUTE FUNCTION coinledger.events_are_immutable();

-- Also when a session replays as a replica.
ALTER TABLE coinledger.events ENABLE ALWAYS TRIGGER events_refuse_update_and_delete;

ALTER TABLE coinledger.events ENABLE ALWAYS TRIGGER events_refuse_truncate;
