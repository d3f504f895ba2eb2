import CPostgres

/// Where a database is and how connections to it behave.
///
/// Its description names host and database only; the connection string is never shown.
package struct PostgresConfiguration: Sendable {
    /// Shown in `pg_stat_activity`, unless the connection string says another.
    package var applicationName = "coinledger"
    /// How long connecting may take, and so how long a call waits for a connection.
    package var connectTimeoutSeconds: Int64 = 5
    /// After which the server ends a statement by itself; nil leaves that to its configuration.
    package var statementTimeoutMilliseconds: Int64? = 8_000
    /// After which a statement without answer counts as lost, and the connection with it.
    package var answerTimeoutMilliseconds: Int64 = 10_000
    /// How many statements one connection holds, sent or waiting; more are refused at once.
    package var outstandingMax = 4_096
    /// Settings of the session, such as `("plan_cache_mode", "force_generic_plan")`.
    package var settings: [(name: String, value: String)] = []

    private let fields: [(name: String, value: String)]

    /// Takes apart a connection string, in libpq's key=value form or as a URI.
    ///
    /// - Throws: `.malformed` with libpq's words for it, which don't repeat a password.
    package init(_ connectionString: String) throws(PostgresConfigurationError) {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = unsafe PQconninfoParse(connectionString, &message) else {
            // Allocated by libpq, and so are the options below.
            defer { unsafe PQfreemem(message) }
            throw unsafe .malformed(PostgresConfiguration.text(message) ?? "out of memory")
        }
        defer { unsafe PQconninfoFree(options) }
        var fields: [(name: String, value: String)] = []
        var option = unsafe options
        while let name = unsafe PostgresConfiguration.text(option.pointee.keyword) {
            if let value = unsafe PostgresConfiguration.text(option.pointee.val) {
                fields.append((name, value))
            }
            unsafe option = unsafe option.successor()
        }
        self.fields = fields
    }

    /// What libpq is given: what the string says, and our defaults where it's silent.
    var connectionFields: [(name: String, value: String)] {
        var result = [
            ("fallback_application_name", applicationName),
            ("tcp_user_timeout", "10000"), ("keepalives_idle", "10"),
            ("keepalives_interval", "5"), ("keepalives_count", "3"),
        ].filter { preset in !fields.contains { $0.name == preset.0 } }
            .map { (name: $0.0, value: $0.1) }
        result += fields.filter { $0.name != "options" && $0.name != "client_encoding" }
        result.append(("client_encoding", "UTF8"))
        result.append(("options", options))
        return result
    }

    private var options: String {
        var all: [(name: String, value: String)] = [
            // The server ends a statement soon after its client has gone.
            ("client_connection_check_interval", "2s"),
            // Nobody reads notices, so they aren't sent.
            ("client_min_messages", "error"),
        ]
        if let statementTimeoutMilliseconds {
            all.append(("statement_timeout", "\(statementTimeoutMilliseconds)"))
        }
        var words = (all + settings).map { "-c " + escaped("\($0.name)=\($0.value)") }
        // The string's own come last and so win.
        if let given = fields.first(where: { $0.name == "options" }) { words.append(given.value) }
        return words.joined(separator: " ")
    }

    private func escaped(_ word: String) -> String {
        var result = ""
        for character in word {
            if character == " " || character == "\\" { result.append("\\") }
            result.append(character)
        }
        return result
    }

    private static func text(_ pointer: UnsafeMutablePointer<CChar>?) -> String? {
        unsafe pointer.map { unsafe String(cString: $0) }
    }
}

extension PostgresConfiguration: CustomStringConvertible, CustomReflectable {
    package var description: String {
        let shown = fields.filter { ["host", "port", "dbname"].contains($0.name) }
        return shown.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
    }

    /// Nothing, so that `dump` doesn't show what `description` hides.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Why a connection string was refused.
package enum PostgresConfigurationError: Error, Hashable {
    case malformed(String)
}
