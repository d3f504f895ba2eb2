import CPostgres

/// What libpq said when it was asked by a test.
package struct TestDatabaseError: Error, CustomStringConvertible {
    /// The code of a refusal.
    package let sqlState: String?
    package let description: String
}

/// A connection for one script.
enum BlockingConnection {
    /// The rows of the script's last statement, as texts.
    static func run(
        _ sql: String, on connectionString: String
    ) throws(TestDatabaseError) -> [[String?]] {
        let connection = PQconnectdb(connectionString)
        defer { PQfinish(connection) }
        guard PQstatus(connection) == CONNECTION_OK else {
            throw TestDatabaseError(
                sqlState: nil, description: String(cString: PQerrorMessage(connection)))
        }
        PQsetNoticeReceiver(connection, { _, _ in }, nil)
        let result = PQexec(connection, sql)
        defer { PQclear(result) }
        let status = PQresultStatus(result)
        guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else {
            let code = PQresultErrorField(result, Int32(UInt8(ascii: "C")))
            throw TestDatabaseError(
                sqlState: code.map { String(cString: $0) },
                description: String(cString: PQerrorMessage(connection)))
        }
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
