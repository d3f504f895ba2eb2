import EventLoop
import Postgres
import TestSupport
import Testing

@Suite struct `A pipelined connection` {
    @Test func `answers ten thousand concurrent reads each with its own`() async throws {
        try await withConnection({ $0.outstandingMax = 10_000 }) { (connection) async throws in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<10_000 as Range<Int64> {
                    group.addTask {
                        let rows = try await connection.read([(same, [.int8(number)])])
                        return try rows.count == 1 && rows[0].int8(0, 0) == number
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
        }
    }

    @Test func `keeps a failed read from its neighbours`() async throws {
        try await withConnection { (connection) async throws in
            // All three are sent in one turn of the loop.
            async let before = connection.read([(same, [.int8(1)])])
            async let failing = failure { () throws(PostgresError) in
                _ = try await connection.read([(divide, [.int8(0)])])
            }
            async let after = connection.read([(same, [.int8(2)]), (divide, [.int8(1)])])
            #expect(try await before[0].int8(0, 0) == 1)
            #expect(await failing?.code == "22012")
            let rows = try await after
            #expect(try rows[0].int8(0, 0) == 2)
            #expect(try rows[1].int8(0, 0) == 1)
        }
    }

    @Test func `keeps a failed write from its neighbours`() async throws {
        let database = try TestDatabase.create()
        try database.run("CREATE TABLE t (n bigint CONSTRAINT t_is_unique UNIQUE)")
        let insert = PostgresStatement("insert", "INSERT INTO t VALUES ($1)")
        try await withConnection(to: database) { (connection) async throws in
            async let first = connection.execute(insert, [.int8(1)])
            async let repeated = failure { () throws(PostgresError) in
                _ = try await connection.execute(insert, [.int8(1)])
            }
            async let second = connection.execute(insert, [.int8(2)])
            #expect(try await first.affectedCount == 1)
            #expect(
                await repeated
                    == .server(
                        code: "23505",
                        message: #"duplicate key value violates unique constraint "t_is_unique""#,
                        detail: "Key (n)=(1) already exists.", constraint: "t_is_unique"))
            #expect(try await second.affectedCount == 1)
            let count = PostgresStatement("count", "SELECT count(*) FROM t")
            #expect(try await connection.read([(count, [])])[0].int8(0, 0) == 2)
        }
    }

    @Test func `gives several reads of one call the first failure`() async throws {
        try await withConnection { (connection) async throws in
            let error = await failure { () throws(PostgresError) in
                _ = try await connection.read([
                    (one, []), (divide, [.int8(0)]), (one, []), (divide, [.int8(1)]),
                ])
            }
            #expect(error?.code == "22012")
            #expect(try await connection.read([(divide, [.int8(1)])])[0].int8(0, 0) == 1)
        }
    }

    @Test func `tells each user of a statement that cannot be prepared why`() async throws {
        let wrong = PostgresStatement("wrong", "SELECT nothing FROM nowhere")
        try await withConnection { (connection) async throws in
            async let first = failure { () throws(PostgresError) in
                _ = try await connection.execute(wrong)
            }
            async let second = failure { () throws(PostgresError) in
                _ = try await connection.execute(wrong)
            }
            async let third = failure { () throws(PostgresError) in
                _ = try await connection.read([(wrong, [])])
            }
            #expect(await first?.code == "42P01")
            #expect(await second?.code == "42P01")
            #expect(await third?.code == "42P01")
        }
    }

    @Test func `prepares a statement whose preparation was skipped`() async throws {
        try await withConnection { (connection) async throws in
            async let failing = failure { () throws(PostgresError) in
                _ = try await connection.read([(divide, [.int8(0)]), (same, [.int8(1)])])
            }
            // This one counts on the first call's having prepared it.
            async let write = connection.execute(same, [.int8(3)])
            #expect(await failing?.code == "22012")
            #expect(try await write.int8(0, 0) == 3)
        }
    }

    @Test func `answers a write when it is committed and not before`() async throws {
        let database = try TestDatabase.create()
        try database.run(
            "CREATE TABLE t (n bigint CONSTRAINT late UNIQUE DEFERRABLE INITIALLY DEFERRED)")
        let insert = PostgresStatement("insert", "INSERT INTO t VALUES ($1) RETURNING n")
        try await withConnection(to: database) { (connection) async throws in
            #expect(try await connection.execute(insert, [.int8(1)]).int8(0, 0) == 1)
            // Its row comes back before the commit refuses it.
            let error = await failure { () throws(PostgresError) in
                _ = try await connection.execute(insert, [.int8(1)])
            }
            #expect(error?.code == "23505")
            #expect(try await connection.execute(insert, [.int8(2)]).int8(0, 0) == 2)
        }
    }

    @Test func `refuses more than it may hold, at once`() async throws {
        try await withConnection({ $0.outstandingMax = 2 }) { (connection) async throws in
            async let first = connection.read([(one, []), (one, [])])
            #expect(try await first.count == 2)
            let tooMany = await failure { () throws(PostgresError) in
                _ = try await connection.read([(one, []), (one, []), (one, [])])
            }
            #expect(tooMany == .unavailable("too many statements are waiting"))
            #expect(try await connection.read([(one, []), (one, [])]).count == 2)
        }
    }

    @Test func `reads nothing if nothing is asked`() async throws {
        try await withConnection { (connection) async throws in
            #expect(try await connection.read([]).isEmpty)
        }
    }
}
