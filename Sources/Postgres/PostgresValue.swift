/// A parameter of a statement, sent in PostgreSQL's binary form.
///
/// A `uuid` has 16 bytes. Times are milliseconds since 1970-01-01T00:00:00Z. What doesn't fit its
/// type (a text with a NUL, a time beyond PostgreSQL's) is refused by the server.
package enum PostgresValue: Sendable, Hashable {
    case null
    case int8(Int64)
    case text(String)
    case bytea([UInt8])
    case bool(Bool)
    case uuid([UInt8])
    case timestamptz(milliseconds: Int64)
    /// A JSON text, for `json` and for columns of `jsonb`.
    case json(String)
    case int8Array([Int64])
    case textArray([String])
    case nullableTextArray([String?])
    case byteaArray([[UInt8]])
    case uuidArray([[UInt8]])
    case timestamptzArray(milliseconds: [Int64])
    case nullableTimestamptzArray(milliseconds: [Int64?])
    /// An array of a composite type. The server knows which one from the statement.
    case records(PostgresRecords)
}

/// Object identifiers of built-in types, from PostgreSQL's `pg_type.dat`; they never change.
enum TypeID {
    static let unknown: UInt32 = 0
    static let bool: UInt32 = 16
    static let bytea: UInt32 = 17
    static let int8: UInt32 = 20
    static let int2: UInt32 = 21
    static let int4: UInt32 = 23
    static let text: UInt32 = 25
    static let json: UInt32 = 114
    static let byteaArray: UInt32 = 1001
    static let textArray: UInt32 = 1009
    static let int8Array: UInt32 = 1016
    static let varchar: UInt32 = 1043
    static let name: UInt32 = 19
    static let timestamptz: UInt32 = 1184
    static let timestamptzArray: UInt32 = 1185
    static let uuid: UInt32 = 2950
    static let uuidArray: UInt32 = 2951
    static let jsonb: UInt32 = 3802
}

extension PostgresValue {
    var typeID: UInt32 {
        switch self {
        case .null, .records: TypeID.unknown
        case .int8: TypeID.int8
        case .text: TypeID.text
        case .bytea: TypeID.bytea
        case .bool: TypeID.bool
        case .uuid: TypeID.uuid
        case .timestamptz: TypeID.timestamptz
        case .json: TypeID.json
        case .int8Array: TypeID.int8Array
        case .textArray, .nullableTextArray: TypeID.textArray
        case .byteaArray: TypeID.byteaArray
        case .uuidArray: TypeID.uuidArray
        case .timestamptzArray, .nullableTimestamptzArray: TypeID.timestamptzArray
        }
    }
}

/// PostgreSQL counts microseconds since 2000-01-01T00:00:00Z.
enum PostgresTime {
    private static let epochMilliseconds: Int64 = 946_684_800_000

    /// What is too early or too late becomes a time that the server refuses, and not one of the
    /// two that mean infinity.
    static func encode(milliseconds: Int64) -> Int64 {
        let (since, isEarly) = milliseconds.subtractingReportingOverflow(epochMilliseconds)
        let (microseconds, isFar) = since.multipliedReportingOverflow(by: 1000)
        guard isEarly || isFar else { return microseconds }
        return milliseconds < 0 ? Int64.min + 1 : Int64.max - 1
    }

    /// The milliseconds since 1970, parts of one cut off; nil for an infinite time.
    static func decode(microseconds: Int64) -> Int64? {
        guard microseconds != .min, microseconds != .max else { return nil }
        let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: 1000)
        return quotient - (remainder < 0 ? 1 : 0) + epochMilliseconds
    }
}
