import Postgres
import TestSupport
import Testing

@Suite struct `Arrays sent` {
    @Test(arguments: [0, 1, 10_000])
    func `arrive in order`(count: Int) async throws {
        let numbers = (0..<count).map { Int64($0) * 1_000_003 - 5 }
        let statement = PostgresStatement(
            "arrays",
            """
            SELECT number, label, content, id, instant
            FROM unnest($1::bigint[], $2::text[], $3::bytea[], $4::uuid[], $5::timestamptz[])
                WITH ORDINALITY AS element (number, label, content, id, instant, place)
            ORDER BY place
            """)
        let rows = try await withConnection { (connection) async throws in
            try await connection.execute(
                statement,
                [
                    .int8Array(numbers), .textArray(numbers.map { "n\($0)" }),
                    .byteaArray(numbers.map(bytes)),
                    .uuidArray(numbers.map { bytes($0) + bytes(0) }),
                    .timestamptzArray(milliseconds: numbers),
                ])
        }
        #expect(rows.count == count)
        for (row, number) in numbers.enumerated() {
            let isSame =
                try rows.int8(row, 0) == number && rows.text(row, 1) == "n\(number)"
                && rows.bytes(row, 2) == bytes(number)
                && rows.uuid(row, 3) == bytes(number) + bytes(0)
                && rows.timestamp(row, 4) == number
            try #require(isSame, "row \(row)")
        }
    }

    @Test func `keep their NULLs`() async throws {
        let statement = PostgresStatement(
            "nullable",
            """
            SELECT label, instant
            FROM unnest($1::text[], $2::timestamptz[])
                WITH ORDINALITY AS element (label, instant, place)
            ORDER BY place
            """)
        try await withConnection { (connection) async throws in
            let rows = try await connection.execute(
                statement,
                [
                    .nullableTextArray(["a", nil, ""]),
                    .nullableTimestamptzArray(milliseconds: [nil, 2, nil]),
                ])
            #expect(try (0..<3).map { try rows.optionalText($0, 0) } == ["a", nil, ""])
            #expect(try (0..<3).map { try rows.optionalTimestamp($0, 1) } == [nil, 2, nil])
        }
    }

    @Test func `select what they hold`() async throws {
        let statement = PostgresStatement(
            "any", "SELECT n FROM generate_series(1, 5) AS n WHERE n = ANY($1::bigint[]) ORDER BY n"
        )
        try await withConnection { (connection) async throws in
            let rows = try await connection.execute(statement, [.int8Array([4, 2, 9])])
            #expect(try (0..<rows.count).map { try rows.int8($0, 0) } == [2, 4])
        }
    }

    @Test(arguments: [0, 1, 1_000])
    func `arrive as rows, with their NULLs`(count: Int) async throws {
        try await withConnection { (connection) async throws in
            try await connection.script(
                """
                CREATE TYPE pg_temp.line AS (
                    number bigint, label text, content bytea, instant timestamptz
                )
                """)
            let type = try await connection.execute(
                PostgresStatement("type", "SELECT 'pg_temp.line'::regtype::oid::bigint"))
            var lines = PostgresRecordWriter(
                of: try #require(UInt32(exactly: try type.int8(0, 0))), columns: 4)
            for index in 0..<count {
                let number = Int64(index) * 1_000_003 - 5
                // Each column is NULL in a quarter of the rows.
                func unlessNull<Value>(_ column: Int, _ value: Value) -> Value? {
                    index % 4 == column ? nil : value
                }
                lines.addRow {
                    $0.add(unlessNull(0, number))
                    $0.add(unlessNull(1, "n\(number)"))
                    $0.add(unlessNull(2, bytes(number)))
                    $0.add(milliseconds: unlessNull(3, number))
                }
            }
            let rows = try await connection.execute(
                PostgresStatement(
                    "lines",
                    """
                    SELECT number, label, content, instant
                    FROM unnest($1::pg_temp.line[]) WITH ORDINALITY AS line (
                        number, label, content, instant, place
                    )
                    ORDER BY place
                    """), [.records(lines.finish())])
            #expect(rows.count == count)
            for row in 0..<count {
                let number = Int64(row) * 1_000_003 - 5
                for column in 0..<4 {
                    try #require(try rows.isNull(row, column) == (row % 4 == column))
                }
                let isSame =
                    try rows.optionalInt8(row, 0) ?? number == number
                    && rows.optionalText(row, 1) ?? "n\(number)" == "n\(number)"
                    && rows.optionalBytes(row, 2) ?? bytes(number) == bytes(number)
                    && rows.optionalTimestamp(row, 3) ?? number == number
                try #require(isSame, "row \(row)")
            }
        }
    }

    private func bytes(_ number: Int64) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}
