/// A statement, prepared under its name on each connection that uses it for the first time.
///
/// The types of its parameters are those of the values it's first executed with on a connection.
package struct PostgresStatement: Sendable, Hashable {
    /// Unique among the statements of a process.
    package let name: String
    package let sql: String

    package init(_ name: String, _ sql: String) {
        (self.name, self.sql) = (name, sql)
    }
}
