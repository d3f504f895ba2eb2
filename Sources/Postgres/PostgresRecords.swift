import Base

/// An array of rows of a composite type, in PostgreSQL's binary form.
///
/// Rows cost the server less than an array for each of their columns, once a statement has more than a
/// few.
package struct PostgresRecords: Sendable, Hashable {
    /// The composite type's identifier, which each database has its own of: `'…'::regtype::oid`.
    let type: UInt32
    let count: Int
    /// Each row with its length before it.
    let bytes: [UInt8]
}

/// Makes `PostgresRecords`, row by row.
package struct PostgresRecordWriter: ~Copyable {
    private let type: UInt32
    private let columnCount: UInt32
    private var writer = ByteWriter(capacity: 1024)
    private var count = 0
    private var columnsLeft: UInt32 = 0

    package init(of type: UInt32, columns columnCount: Int) {
        (self.type, self.columnCount) = (type, UInt32(columnCount))
    }

    package consuming func finish() -> PostgresRecords {
        PostgresRecords(type: type, count: count, bytes: writer.finish())
    }

    /// Adds a row, whose columns `add` adds in the type's order.
    package mutating func addRow(_ add: (inout PostgresRecordWriter) -> Void) {
        let start = writer.count
        // The length comes first, once it's known.
        writer.append(big: UInt64(columnCount))
        columnsLeft = columnCount
        add(&self)
        precondition(columnsLeft == 0, "a row has a value for each column")
        writer.replace(at: start, big: UInt32(clamping: writer.count - start - 4))
        count += 1
    }

    /// Makes room for so many rows like those that are there.
    package mutating func reserve(_ rows: Int) {
        if count > 0 { writer.reserve(writer.count / count * rows) }
    }

    package mutating func add(_ number: Int64) { add(number, TypeID.int8) }

    package mutating func add(_ number: Int64?) {
        guard let number else { return addNull(TypeID.int8) }
        add(number, TypeID.int8)
    }

    package mutating func add(milliseconds: Int64) {
        add(PostgresTime.encode(milliseconds: milliseconds), TypeID.timestamptz)
    }

    package mutating func add(milliseconds: Int64?) {
        guard let milliseconds else { return addNull(TypeID.timestamptz) }
        add(milliseconds: milliseconds)
    }

    package mutating func add(_ text: String?) {
        guard let text else { return addNull(TypeID.text) }
        addHeader(TypeID.text, length: text.utf8.count)
        writer.append(text.utf8.span)
    }

    package mutating func add(_ content: [UInt8]?) {
        guard let content else { return addNull(TypeID.bytea) }
        addHeader(TypeID.bytea, length: content.count)
        writer.append(content.span)
    }

    /// Adds a `bytea` of 16 bytes, the highest first.
    package mutating func add(high: UInt64, low: UInt64) {
        addHeader(TypeID.bytea, length: 16)
        writer.append(big: high, low)
    }

    private mutating func add(_ number: Int64, _ type: UInt32) {
        columnsLeft -= 1
        writer.append(
            big: PostgresRecordWriter.header(type, length: 8), UInt64(bitPattern: number))
    }

    private mutating func addNull(_ type: UInt32) { addHeader(type, length: -1) }

    private mutating func addHeader(_ type: UInt32, length: Int) {
        columnsLeft -= 1
        writer.append(big: PostgresRecordWriter.header(type, length: length))
    }

    /// The column's type and its value's length.
    private static func header(_ type: UInt32, length: Int) -> UInt64 {
        UInt64(type) << 32 | UInt64(UInt32(bitPattern: Int32(clamping: length)))
    }
}
