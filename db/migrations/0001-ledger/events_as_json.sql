-- The events with their payload as JSON, for people.
CREATE VIEW coinledger.events_as_json AS
SELECT lane, position, account, version, type, schema_version, occurred_at, recorded_at,
    encode(command, 'hex') AS command, convert_from(payload, 'UTF8')::jsonb AS payload
FROM coinledger.events;
