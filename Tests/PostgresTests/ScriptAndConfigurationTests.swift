import Postgres
import TestSupport
import Testing

@Suite struct `A script` {
    @Test func `executes all its statements`() async throws {
        let database = try TestDatabase.create()
        try await withConnection(to: database) { (connection) async throws in
            try await connection.script(
                "CREATE TABLE t (n bigint); INSERT INTO t VALUES (1), (2); SELECT * FROM t")
            let sum = PostgresStatement("sum", "SELECT sum(n)::bigint FROM t")
            #expect(try await connection.execute(sum).int8(0, 0) == 3)
            try await connection.script("INSERT INTO t VALUES (4)")
            #expect(try await connection.execute(sum).int8(0, 0) == 7)
        }
    }

    @Test func `that fails has done nothing`() async throws {
        let database = try TestDatabase.create()
        try await withConnection(to: database) { (connection) async throws in
            let error = await failure { () throws(PostgresError) in
                try await connection.script("CREATE TABLE t (n bigint); SELECT 1 / 0")
            }
            #expect(error?.code == "22012")
            let find = PostgresStatement(
                "find", "SELECT count(*) FROM pg_class WHERE relname = 't'")
            #expect(try await connection.execute(find).int8(0, 0) == 0)
        }
    }

    @Test func `that would copy is refused`() async throws {
        try await withConnection { (connection) async throws in
            let error = await failure { () throws(PostgresError) in
                try await connection.script("COPY pg_class TO STDOUT")
            }
            guard case .protocolViolation = error else {
                Issue.record("unexpected: \(String(describing: error))")
                return
            }
            #expect(connection.isBroken)
        }
    }

    @Test func `and statements keep out of each other's way`() async throws {
        try await withConnection { (connection) async throws in
            async let running: Void = connection.script("SELECT pg_sleep(0.05)")
            async let statement = failure { () throws(PostgresError) in
                _ = try await connection.execute(one)
            }
            #expect(await statement == .unavailable("a script is running"))
            try await running
            async let executing = connection.execute(one)
            async let script = failure { () throws(PostgresError) in
                try await connection.script("SELECT 1")
            }
            #expect(await script == .unavailable("the connection is busy"))
            #expect(try await executing.int8(0, 0) == 1)
        }
    }
}

@Suite struct `A configuration` {
    @Test func `reaches the session`() async throws {
        let show = PostgresStatement(
            "show",
            """
            SELECT current_setting('application_name'), current_setting('plan_cache_mode'),
                current_setting('search_path'), current_setting('statement_timeout'),
                current_setting('client_encoding')
            """)
        try await withConnection({ configuration in
            configuration.applicationName = "a test"
            configuration.settings = [
                ("plan_cache_mode", "force_generic_plan"), ("search_path", #"ledger, "a\b""#),
            ]
        }) { (connection) async throws in
            let rows = try await connection.execute(show)
            #expect(try rows.text(0, 0) == "a test")
            #expect(try rows.text(0, 1) == "force_generic_plan")
            #expect(try rows.text(0, 2) == #"ledger, "a\b""#)
            #expect(try rows.text(0, 3) == "8s")
            #expect(try rows.text(0, 4) == "UTF8")
        }
    }

    @Test(arguments: ["nonsense", "host", "no_such_key=1", "postgres://[::1", "host='x"])
    func `that is malformed is refused`(string: String) {
        #expect(throws: PostgresConfigurationError.self) { try PostgresConfiguration(string) }
    }

    @Test func `does not show its password`() throws {
        let configuration = try PostgresConfiguration(
            "postgres://name:secret@database.example:5433/ledger")
        #expect("\(configuration)" == "dbname=ledger host=database.example port=5433")
        var text = ""
        dump(configuration, to: &text)
        #expect(!text.contains("secret"))
    }

    @Test func `that the server refuses is unavailable`() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await withConnection({ $0.settings = [("no_such_setting", "1")] }) { _ in }
        }
        #expect(error?.debugDescription.contains("no_such_setting") == true)
    }
}
