import Postgres
import TestSupport
import Testing

@Suite struct `Values sent and received` {
    @Test func `integers keep their limits`() async throws {
        try await withConnection { (connection) async throws in
            for number in [0, 1, -1, .min, .max, 0x0102_0304_0506_0708] as [Int64] {
                #expect(try await connection.execute(same, [.int8(number)]).int8(0, 0) == number)
            }
            let short = try await connection.execute(
                PostgresStatement("short", "SELECT (-2)::int, (-3)::smallint"))
            #expect(try short.int8(0, 0) == -2)
            #expect(try short.int8(0, 1) == -3)
        }
    }

    @Test func `texts keep every character`() async throws {
        let echo = PostgresStatement("text", "SELECT $1::text, octet_length($1::text)")
        try await withConnection { (connection) async throws in
            for text in ["", "a", "ä€😀\u{1}\n'\\", String(repeating: "é", count: 500_000)] {
                let rows = try await connection.execute(echo, [.text(text)])
                #expect(try rows.text(0, 0) == text)
                #expect(try rows.int8(0, 1) == Int64(text.utf8.count))
            }
            let refusal = await failure { () throws(PostgresError) in
                _ = try await connection.execute(echo, [.text("a\0b")])
            }
            #expect(refusal?.code == "22021")
        }
    }

    @Test func `bytes keep every value`() async throws {
        let echo = PostgresStatement("bytes", "SELECT $1::bytea, encode($1::bytea, 'hex')")
        try await withConnection { (connection) async throws in
            let empty = try await connection.execute(echo, [.bytea([])])
            #expect(try empty.bytes(0, 0) == [])
            let few = try await connection.execute(echo, [.bytea([0, 1, 0xFE, 0xFF])])
            #expect(try few.bytes(0, 0) == [0, 1, 0xFE, 0xFF])
            #expect(try few.text(0, 1) == "0001feff")
        }
    }

    @Test func `more than the sockets hold goes both ways at once`() async throws {
        let echo = PostgresStatement("large", "SELECT $1::bytea")
        let large = [UInt8](repeating: 7, count: 10_000_000)
        try await withConnection { (connection) async throws in
            async let first = connection.execute(echo, [.bytea(large)])
            async let second = connection.execute(echo, [.bytea(large)])
            #expect(try await first.bytes(0, 0) == large)
            #expect(try await second.bytes(0, 0) == large)
        }
    }

    @Test func `booleans, uuids and JSON arrive as themselves`() async throws {
        let echo = PostgresStatement(
            "mixed",
            "SELECT $1::bool, NOT $1::bool, $2::uuid, $2::text, $3::json, $3::json::jsonb")
        let uuid: [UInt8] = [0x01, 0x8F, 0, 0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 0xFF]
        try await withConnection { (connection) async throws in
            let rows = try await connection.execute(
                echo, [.bool(true), .uuid(uuid), .json(#"{"a" : 1}"#)])
            #expect(try rows.bool(0, 0))
            #expect(try !rows.bool(0, 1))
            #expect(try rows.uuid(0, 2) == uuid)
            #expect(try rows.text(0, 3) == "018f0000-0000-7000-8000-0000000000ff")
            #expect(try rows.text(0, 4) == #"{"a" : 1}"#)
            #expect(try rows.text(0, 5) == #"{"a": 1}"#)
        }
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000"),
        (-1, "1969-12-31T23:59:59.999"),
        (946_684_800_000, "2000-01-01T00:00:00.000"),
        (1_796_049_240_123, "2026-11-30T14:34:00.123"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999"),
    ])
    func `times are the milliseconds since 1970`(milliseconds: Int64, text: String) async throws {
        let echo = PostgresStatement(
            "time",
            """
            SELECT $1::timestamptz,
                to_char($1::timestamptz AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS'),
                $1::timestamptz + interval '999 microseconds'
            """)
        try await withConnection { (connection) async throws in
            let rows = try await connection.execute(
                echo, [.timestamptz(milliseconds: milliseconds)])
            #expect(try rows.timestamp(0, 0) == milliseconds)
            #expect(try rows.text(0, 1) == text)
            #expect(try rows.timestamp(0, 2) == milliseconds)
        }
    }

    @Test func `times beyond the calendar are refused, and infinite ones not understood`()
        async throws
    {
        let echo = PostgresStatement("time", "SELECT $1::timestamptz")
        let infinite = PostgresStatement("infinite", "SELECT 'infinity'::timestamptz")
        try await withConnection { (connection) async throws in
            for time in [Int64.min, .max, 10_000_000_000_000_000] {
                let refusal = await failure { () throws(PostgresError) in
                    _ = try await connection.execute(echo, [.timestamptz(milliseconds: time)])
                }
                #expect(refusal?.code == "22008")
            }
            let rows = try await connection.execute(infinite)
            #expect(throws: PostgresError.self) { try rows.timestamp(0, 0) }
        }
    }

    @Test func `NULL is nil and nothing else`() async throws {
        let nulls = PostgresStatement(
            "nulls", "SELECT $1::bigint, NULL::text, NULL::bytea, NULL::timestamptz, ''")
        try await withConnection { (connection) async throws in
            let rows = try await connection.execute(nulls, [.null])
            #expect(try rows.optionalInt8(0, 0) == nil)
            #expect(try rows.optionalText(0, 1) == nil)
            #expect(try rows.optionalBytes(0, 2) == nil)
            #expect(try rows.optionalTimestamp(0, 3) == nil)
            #expect(try rows.optionalText(0, 4) == "")
            #expect(throws: PostgresError.self) { try rows.int8(0, 0) }
        }
    }

    @Test func `a wrong place or type is an error`() async throws {
        let row = PostgresStatement("row", "SELECT 1::bigint, 'x', 1.5::float8")
        try await withConnection { (connection) async throws in
            let rows = try await connection.execute(row)
            for (line, column) in [(1, 0), (-1, 0), (0, 3), (0, -1), (.max, .max)] {
                #expect(throws: PostgresError.self) { try rows.int8(line, column) }
                #expect(throws: PostgresError.self) { try rows.isNull(line, column) }
            }
            #expect(throws: PostgresError.self) { try rows.text(0, 0) }
            #expect(throws: PostgresError.self) { try rows.int8(0, 1) }
            #expect(throws: PostgresError.self) { try rows.int8(0, 2) }
            #expect(throws: PostgresError.self) { try rows.bytes(0, 1) }
            #expect(throws: PostgresError.self) { try rows.uuid(0, 1) }
            #expect(throws: PostgresError.self) { try rows.bool(0, 1) }
            #expect(throws: PostgresError.self) { try rows.timestamp(0, 0) }
        }
    }

    @Test func `a parameter that cannot be of its type is refused`() async throws {
        let echo = PostgresStatement("uuid", "SELECT $1::uuid")
        try await withConnection { (connection) async throws in
            let refusal = await failure { () throws(PostgresError) in
                _ = try await connection.execute(echo, [.uuid([1, 2, 3])])
            }
            #expect(refusal?.code == "08P01")
            let missing = await failure { () throws(PostgresError) in
                _ = try await connection.execute(same, [])
            }
            #expect(missing?.code == "08P01")
            #expect(try await connection.execute(one).int8(0, 0) == 1)
        }
    }
}
