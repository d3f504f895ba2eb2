import EventLoop
import Postgres
import TestSupport
import Testing

@Suite struct `A connection that ends` {
    @Test func `by close fails whoever waits`() async throws {
        try await withConnection { (connection) async throws in
            async let unsent = failure { () throws(PostgresError) in
                _ = try await connection.execute(one)
            }
            async let closing: Void = close(connection)
            await closing
            #expect(await unsent?.isResultUnknown == false)
            #expect(connection.isBroken)
            let later = await failure { () throws(PostgresError) in
                _ = try await connection.execute(one)
            }
            #expect(later == .connectionLost(sent: false))
        }
    }

    @Test func `by close after sending leaves the result unknown`() async throws {
        try await withConnection { (connection) async throws in
            async let sent = failure { () throws(PostgresError) in
                _ = try await connection.execute(sleep)
            }
            // It's sent at the end of the turn in which the first sleep ends, at the latest.
            await connection.loop.sleep(milliseconds: 1)
            await connection.loop.sleep(milliseconds: 1)
            connection.close()
            #expect(await sent == .connectionLost(sent: true))
        }
    }

    @Test func `by termination leaves the result unknown`() async throws {
        try await withConnection { (connection) async throws in
            let process = PostgresStatement("process", "SELECT pg_backend_pid()")
            let id = try await connection.execute(process).int8(0, 0)
            async let running = failure { () throws(PostgresError) in
                _ = try await connection.execute(sleep)
            }
            async let behind = failure { () throws(PostgresError) in
                _ = try await connection.execute(one)
            }
            try await terminate(id, on: connection.loop)
            #expect(await running == .connectionLost(sent: true))
            #expect(await behind == .connectionLost(sent: true))
            #expect(connection.isBroken)
        }
    }

    @Test func `by a missing answer is a timeout for the first and unknown for the others`()
        async throws
    {
        try await withConnection({ $0.answerTimeoutMilliseconds = 100 }) {
            (connection) async throws in
            async let first = failure { () throws(PostgresError) in
                _ = try await connection.execute(sleep)
            }
            async let second = failure { () throws(PostgresError) in
                _ = try await connection.execute(one)
            }
            #expect(await first == .timeout)
            #expect(await second == .connectionLost(sent: true))
            #expect(connection.isBroken)
        }
    }

    @Test func `survives a statement that the server ends`() async throws {
        try await withConnection({ $0.statementTimeoutMilliseconds = 50 }) {
            (connection) async throws in
            let error = await failure { () throws(PostgresError) in
                _ = try await connection.execute(sleep)
            }
            #expect(error?.code == "57014")
            #expect(try await connection.execute(one).int8(0, 0) == 1)
        }
    }

    private func close(_ connection: PostgresConnection) async { connection.close() }

    /// Ends the backend once it's seen to sleep.
    private func terminate(_ process: Int64, on loop: EventLoop) async throws {
        let statement = PostgresStatement(
            "terminate",
            """
            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE pid = $1::bigint AND wait_event = 'PgSleep'
            """)
        let configuration = try PostgresConfiguration(TestCluster.shared.adminURL)
        let other = try await PostgresConnection.connect(configuration, on: loop)
        defer { other.close() }
        for _ in 0..<2_000 {
            let ended = try await other.execute(statement, [.int8(process)]).int8(0, 0)
            if ended == 1 { return }
            await loop.sleep(milliseconds: 2)
        }
        Issue.record("the statement was never seen to run")
    }
}
