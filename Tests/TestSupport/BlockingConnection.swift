import CPostgres

/// What libpq said when it was asked by a test.
package struct TestDatabaseError: Error, CustomStringConvertible {
    /// The code of a refusal.
    package let sqlState: String?
    package let description: String

    fileprivate static func check(_ connection: OpaquePointer?) throws(TestDatabaseError) {
        guard PQstatus(connection) == CONNECTION_OK else {
            throw TestDatabaseError(
                sqlState: nil, description: String(cString: PQerrorMessage(connection)))
        }
    }

    fileprivate static func check(
        _ connection: OpaquePointer?, _ result: OpaquePointer?
    ) throws(TestDatabaseError) {
        let status = PQresultStatus(result)
        guard status != PGRES_COMMAND_OK, status != PGRES_TUPLES_OK else { return }
        let code = PQresultErrorField(result, Int32(UInt8(ascii: "C")))
        throw TestDatabaseError(
            sqlState: code.map { String(cString: $0) },
            description: String(cString: PQerrorMessage(connection)))
    }
}

/// A connection for one script.
package enum BlockingConnection {
    /// Runs `sql` and returns the rows of its last statement as text; null is empty.
    @discardableResult
    package static func rows(
        of sql: String, on connectionString: String
    ) throws(TestDatabaseError) -> [[String]] {
        try run(sql, on: connectionString).map { $0.map { $0 ?? "" } }
    }

    /// The rows of the script's last statement, as texts.
    static func run(
        _ sql: String, on connectionString: String
    ) throws(TestDatabaseError) -> [[String?]] {
        let connection = PQconnectdb(connectionString)
        defer { PQfinish(connection) }
        try TestDatabaseError.check(connection)
        PQsetNoticeReceiver(connection, { _, _ in }, nil)
        let result = PQexec(connection, sql)
        defer { PQclear(result) }
        try TestDatabaseError.check(connection, result)
        return (0..<PQntuples(result)).map { row in
            (0..<PQnfields(result)).map { column in
                PQgetisnull(result, row, column) == 1
                    ? nil : PQgetvalue(result, row, column).map { String(cString: $0) }
            }
        }
    }

    /// What a connection string says, by field; nothing if it's malformed.
    static func fields(of connectionString: String) -> [String: String] {
        guard let options = PQconninfoParse(connectionString, nil) else { return [:] }
        defer { PQconninfoFree(options) }
        var fields: [String: String] = [:]
        var option = options
        while let name = option.pointee.keyword {
            if let value = option.pointee.val {
                fields[String(cString: name)] = String(cString: value)
            }
            option = option.successor()
        }
        return fields
    }
}

/// A connection that stays open, for transactions that others run into.
package final class BlockingSession {
    private let connection: OpaquePointer?

    package init(_ connectionString: String) throws(TestDatabaseError) {
        connection = PQconnectdb(connectionString)
        try TestDatabaseError.check(connection)
    }

    deinit { PQfinish(connection) }

    /// Runs one command, blocking.
    package func run(_ sql: String) throws(TestDatabaseError) {
        let result = PQexec(connection, sql)
        defer { PQclear(result) }
        try TestDatabaseError.check(connection, result)
    }
}
