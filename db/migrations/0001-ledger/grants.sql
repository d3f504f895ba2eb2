-- The writer executes and selects, the reader selects but sees no keys. Nobody else does anything.
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA coinledger FROM PUBLIC;

GRANT SELECT ON ALL TABLES IN SCHEMA coinledger TO coinledger_writer, coinledger_reader;

REVOKE SELECT ON coinledger.api_keys FROM coinledger_reader;

GRANT EXECUTE ON FUNCTION
    coinledger.append_events,
    coinledger.forget_answers,
    coinledger.record_purchase_attempts,
    coinledger.forget_purchase_attempts,
    coinledger.create_api_key,
    coinledger.revoke_api_key,
    coinledger.record_notification,
    coinledger.claim_notifications,
    coinledger.end_notification,
    coinledger.end_notification_unclaimed,
    coinledger.postpone_notification,
    coinledger.retry_dead_notification,
    coinledger.retry_unclaimed_notifications,
    coinledger.forget_notifications
TO coinledger_writer;

-- For the view of lots.
GRANT EXECUTE ON FUNCTION coinledger.open_lots, coinledger.number_at
TO coinledger_writer, coinledger_reader;
