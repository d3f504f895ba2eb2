/// Why something asked of PostgreSQL didn't succeed.
package enum PostgresError: Error, Hashable {
    /// Not tried, so nothing has changed: no connection, or too much is waiting already.
    case unavailable(String)
    /// The connection is gone. If the statement was sent, its result is unknown: it may have been
    /// committed or not.
    case connectionLost(sent: Bool)
    /// No answer within the limit; the connection was closed. The result is unknown.
    case timeout
    /// PostgreSQL refused the statement; its transaction has changed nothing. The code is the
    /// SQLSTATE.
    case server(code: String, message: String, detail: String?, constraint: String?)
    /// An earlier statement of the same transaction failed, so this one wasn't executed.
    case aborted
    /// An answer isn't what was asked for: a type, a length, an order.
    case protocolViolation(String)
}

extension PostgresError {
    /// Whether the statement may have been executed although it's not known.
    package var isResultUnknown: Bool {
        switch self {
        case .connectionLost(let sent): sent
        case .timeout: true
        // The answer was not understood, which doesn't say that there was no commit.
        case .protocolViolation: true
        case .unavailable, .server, .aborted: false
        }
    }

    /// The SQLSTATE of a refusal.
    package var code: String? {
        switch self {
        case .server(let code, _, _, _): code
        case .unavailable, .connectionLost, .timeout, .aborted, .protocolViolation: nil
        }
    }
}

extension PostgresError: CustomStringConvertible, CustomDebugStringConvertible {
    /// One sentence without data, for whoever asked.
    package var description: String {
        switch self {
        case .unavailable: "The database is not available."
        case .connectionLost: "The connection to the database was lost."
        case .timeout: "The database did not answer in time."
        case .server: "The database refused the statement."
        case .aborted: "An earlier statement of the transaction failed."
        case .protocolViolation: "The database gave an unexpected answer."
        }
    }

    /// What is known, for the log. It holds no connection string.
    package var debugDescription: String {
        switch self {
        case .unavailable(let reason): "unavailable: \(reason)"
        case .connectionLost(let sent): "connection lost, \(sent ? "sent" : "not sent") before"
        case .timeout: "timeout"
        case .server(let code, let message, let detail, let constraint):
            "\(code): \(message)" + (detail.map { " (\($0))" } ?? "")
                + (constraint.map { " [\($0)]" } ?? "")
        case .aborted: "aborted by an earlier statement"
        case .protocolViolation(let problem): "protocol violation: \(problem)"
        }
    }
}
