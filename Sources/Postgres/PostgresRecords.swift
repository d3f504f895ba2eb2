/// An array of rows of a composite type, put into PostgreSQL's binary form as they are added.
///
/// Rows cost the server less than an array for each of their columns, once a statement has more than a
/// few.
package struct PostgresRecords: Sendable, Hashable {
    /// The composite type's identifier, which each database has its own of: `'…'::regtype::oid`.
    let type: UInt32
    private let columnCount: Int32
    private(set) var count = 0
    /// Each row with its length before it.
    private(set) var bytes: [UInt8] = []
    private var columnsLeft: Int32 = 0

    package init(of type: UInt32, columns columnCount: Int32) {
        (self.type, self.columnCount) = (type, columnCount)
    }

    /// Adds a row, whose columns `add` adds in the type's order.
    package mutating func addRow(_ add: (inout PostgresRecords) -> Void) {
        let start = bytes.count
        bytes.append(big: Int32(0))
        bytes.append(big: columnCount)
        columnsLeft = columnCount
        add(&self)
        precondition(columnsLeft == 0, "a row has a value for each column")
        let length = Int32(clamping: bytes.count - start - 4)
        for index in 0..<4 {
            bytes[start + index] = UInt8(truncatingIfNeeded: length >> Int32(24 - 8 * index))
        }
        count += 1
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
        bytes.append(contentsOf: text.utf8)
    }

    package mutating func add(_ content: [UInt8]?) {
        guard let content else { return addNull(TypeID.bytea) }
        addHeader(TypeID.bytea, length: content.count)
        bytes.append(contentsOf: content)
    }

    private mutating func add(_ number: Int64, _ type: UInt32) {
        addHeader(type, length: 8)
        bytes.append(big: number)
    }

    private mutating func addNull(_ type: UInt32) { addHeader(type, length: -1) }

    /// The column's type and its value's length.
    private mutating func addHeader(_ type: UInt32, length: Int) {
        columnsLeft -= 1
        let length = UInt32(bitPattern: Int32(clamping: length))
        bytes.append(big: UInt64(type) << 32 | UInt64(length))
    }
}

extension [UInt8] {
    mutating func append(big number: some FixedWidthInteger) {
        unsafe Swift.withUnsafeBytes(of: number.bigEndian) { unsafe append(contentsOf: $0) }
    }
}
