-- Three roles that nobody logs in as: `owner` holds the objects and runs migrations, `writer` may
-- execute and select, `reader` may select. Roles belong to the whole cluster, so that another
-- ledger in it may have made them, perhaps this very moment.
DO $$
DECLARE
    role_name text;
BEGIN
    FOREACH role_name IN ARRAY ARRAY['coinledger_owner', 'coinledger_writer', 'coinledger_reader']
    LOOP
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN', role_name);
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN NULL;
        END;
    END LOOP;
    IF NOT pg_has_role(current_user, 'coinledger_owner', 'MEMBER') THEN
        EXECUTE format('GRANT coinledger_owner TO %I', current_user);
    END IF;
END;
$$;

ALTER SCHEMA coinledger OWNER TO coinledger_owner;

ALTER TABLE coinledger.schema_migrations OWNER TO coinledger_owner;

SET LOCAL ROLE coinledger_owner;

REVOKE ALL ON SCHEMA coinledger FROM PUBLIC;

GRANT USAGE ON SCHEMA coinledger TO coinledger_writer, coinledger_reader;
