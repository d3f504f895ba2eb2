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
            SELECT label, number, content
            FROM unnest($1::text[], $2::bigint[], $3::bytea[])
                WITH ORDINALITY AS element (label, number, content, place)
            ORDER BY place
            """)
        try await withConnection { (connection) async throws in
            let rows = try await connection.execute(
                statement,
                [
                    .nullableTextArray(["a", nil, ""]), .nullableInt8Array([nil, 2, nil]),
                    .nullableByteaArray([[], [1], nil]),
                ])
            #expect(try (0..<3).map { try rows.optionalText($0, 0) } == ["a", nil, ""])
            #expect(try (0..<3).map { try rows.optionalInt8($0, 1) } == [nil, 2, nil])
            #expect(try (0..<3).map { try rows.optionalBytes($0, 2) } == [[], [1], nil])
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

    private func bytes(_ number: Int64) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}
