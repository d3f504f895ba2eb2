import EventStore
import Postgres

extension PostgresError {
    /// The failure of a read, or of a write of which at least nothing is lost if it was made.
    var storeError: EventStoreError {
        switch self {
        case .server("CL001", _, _, _), .server("40001", _, _, _), .server("40P01", _, _, _):
            .conflict
        case .protocolViolation(let problem): .corrupt(problem)
        case .server("CL002", _, _, _): .corrupt(debugDescription)
        case .unavailable, .connectionLost, .timeout, .server, .aborted:
            .unavailable(debugDescription)
        }
    }

    /// The constraints that a claim violates if it's taken.
    private static let claims = [
        "purchases_are_granted_once", "app_account_tokens_have_one_account",
        "spends_are_reversed_once", "orders_are_recorded_once",
        "idempotency_keys_are_answered_once",
    ]

    /// The failure of an append.
    ///
    /// A shutdown (57P01, 57P02) may end a session after its commit and before its answer.
    var appendError: EventStoreError {
        switch self {
        case .server("57P01", _, _, _), .server("57P02", _, _, _):
            .resultUnknown(debugDescription)
        case .server("23505", _, _, let constraint):
            PostgresError.claims.contains(constraint ?? "") ? .claimed : .conflict
        case .server("CL005", _, _, _): .claimed
        case _ where isResultUnknown: .resultUnknown(debugDescription)
        case .unavailable, .connectionLost, .timeout, .server, .aborted, .protocolViolation:
            storeError
        }
    }
}
