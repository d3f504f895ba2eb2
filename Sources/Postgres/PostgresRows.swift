import CPostgres

/// The rows one statement answered with.
///
/// The getters check row, column, type and length, and throw `.protocolViolation` for what isn't
/// there, NULL included; the `optional` ones return nil for NULL.
@safe package final class PostgresRows: @unchecked Sendable {
    // Sendable, because a result never changes once it has been received.
    private let result: OpaquePointer
    /// How many rows there are.
    package let count: Int
    package let columnCount: Int

    /// Takes over the result, which is freed at the end.
    init(_ result: OpaquePointer) {
        unsafe self.result = unsafe result
        count = unsafe Int(PQntuples(result))
        columnCount = unsafe Int(PQnfields(result))
    }

    deinit { unsafe PQclear(result) }

    /// How many rows an INSERT, UPDATE or DELETE has touched; 0 for others.
    package var affectedCount: Int {
        guard let text = unsafe PQcmdTuples(result) else { return 0 }
        return unsafe Int(String(cString: text)) ?? 0
    }

    package func isNull(_ row: Int, _ column: Int) throws(PostgresError) -> Bool {
        try check(row, column)
        return unsafe PQgetisnull(result, Int32(row), Int32(column)) == 1
    }

    /// An integer of 8, 4 or 2 bytes.
    package func int8(_ row: Int, _ column: Int) throws(PostgresError) -> Int64 {
        switch type(column) {
        case TypeID.int8: try number(row, column, Int64.self)
        case TypeID.int4: Int64(try number(row, column, Int32.self))
        case TypeID.int2: Int64(try number(row, column, Int16.self))
        default: throw wrongType(column, "an integer")
        }
    }

    /// A text, or the text of a JSON value.
    package func text(_ row: Int, _ column: Int) throws(PostgresError) -> String {
        unsafe try withField(row, column) { (field) throws(PostgresError) -> String in
            switch type(column) {
            case TypeID.text, TypeID.varchar, TypeID.name, TypeID.json:
                return unsafe String(decoding: field, as: UTF8.self)
            case TypeID.jsonb:
                // Its binary form is a version, which is 1, and the text.
                guard unsafe field.first == 1 else {
                    throw .protocolViolation("jsonb of a new version")
                }
                return unsafe String(decoding: field.dropFirst(), as: UTF8.self)
            default: throw wrongType(column, "a text")
            }
        }
    }

    /// The bytes of a `bytea`.
    package func bytes(_ row: Int, _ column: Int) throws(PostgresError) -> [UInt8] {
        guard type(column) == TypeID.bytea else { throw wrongType(column, "a bytea") }
        return unsafe try withField(row, column) { unsafe Array($0) }
    }

    /// The 16 bytes of a `uuid`.
    package func uuid(_ row: Int, _ column: Int) throws(PostgresError) -> [UInt8] {
        guard type(column) == TypeID.uuid else { throw wrongType(column, "a uuid") }
        let bytes = unsafe try withField(row, column) { unsafe Array($0) }
        guard bytes.count == 16 else { throw .protocolViolation("a uuid of \(bytes.count) bytes") }
        return bytes
    }

    package func bool(_ row: Int, _ column: Int) throws(PostgresError) -> Bool {
        guard type(column) == TypeID.bool else { throw wrongType(column, "a bool") }
        return try number(row, column, UInt8.self) != 0
    }

    /// A `timestamptz` as milliseconds since 1970; parts of a millisecond are cut off.
    package func timestamp(_ row: Int, _ column: Int) throws(PostgresError) -> Int64 {
        guard type(column) == TypeID.timestamptz else { throw wrongType(column, "a timestamptz") }
        let microseconds = try number(row, column, Int64.self)
        guard let time = PostgresTime.decode(microseconds: microseconds) else {
            throw .protocolViolation("an infinite time in column \(column)")
        }
        return time
    }

    /// Calls `body` with the bytes of a field, which live as long as the call.
    func withField<Value>(
        _ row: Int, _ column: Int,
        _ body: (UnsafeRawBufferPointer) throws(PostgresError) -> Value
    ) throws(PostgresError) -> Value {
        guard try !isNull(row, column) else {
            throw .protocolViolation("NULL in column \(column)")
        }
        guard unsafe PQfformat(result, Int32(column)) == 1 else {
            throw .protocolViolation("column \(column) isn't binary")
        }
        return unsafe try body(
            UnsafeRawBufferPointer(
                start: PQgetvalue(result, Int32(row), Int32(column)),
                count: Int(PQgetlength(result, Int32(row), Int32(column)))))
    }

    /// The column's type, or 0 if there is no such column.
    func type(_ column: Int) -> UInt32 {
        guard column >= 0, column < columnCount else { return TypeID.unknown }
        return unsafe PQftype(result, Int32(column))
    }

    func wrongType(_ column: Int, _ expected: String) -> PostgresError {
        .protocolViolation("column \(column) is of type \(type(column)), not \(expected)")
    }

    private func check(_ row: Int, _ column: Int) throws(PostgresError) {
        guard row >= 0, row < count, column >= 0, column < columnCount else {
            throw .protocolViolation(
                "row \(row), column \(column) of \(count) rows of \(columnCount)")
        }
    }

    private func number<Number: FixedWidthInteger>(
        _ row: Int, _ column: Int, _ type: Number.Type
    ) throws(PostgresError) -> Number {
        unsafe try withField(row, column) { (field) throws(PostgresError) -> Number in
            guard field.count == MemoryLayout<Number>.size else {
                throw .protocolViolation("\(field.count) bytes in column \(column)")
            }
            return unsafe Number(bigEndian: field.loadUnaligned(as: Number.self))
        }
    }
}

extension PostgresRows {
    package func optionalInt8(_ row: Int, _ column: Int) throws(PostgresError) -> Int64? {
        try isNull(row, column) ? nil : int8(row, column)
    }

    package func optionalText(_ row: Int, _ column: Int) throws(PostgresError) -> String? {
        try isNull(row, column) ? nil : text(row, column)
    }

    package func optionalBytes(_ row: Int, _ column: Int) throws(PostgresError) -> [UInt8]? {
        try isNull(row, column) ? nil : bytes(row, column)
    }

    package func optionalTimestamp(_ row: Int, _ column: Int) throws(PostgresError) -> Int64? {
        try isNull(row, column) ? nil : timestamp(row, column)
    }
}
