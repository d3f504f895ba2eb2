import CPostgres

/// The parameters of one statement in binary form, all in one buffer that is used again.
struct ParameterBuffer {
    private var bytes: [UInt8] = []
    private var offsets: [Int?] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    /// How many bytes the parameters of one statement may have.
    static let bytesMax = 256 * 1024 * 1024
    /// PostgreSQL counts parameters in 16 bits.
    static let parametersMax = 65_535

    /// Takes the place of what was there before.
    mutating func encode(_ values: [PostgresValue]) throws(PostgresError) {
        guard values.count <= ParameterBuffer.parametersMax else {
            throw .unavailable("too many parameters")
        }
        bytes.removeAll(keepingCapacity: bytes.capacity <= 1024 * 1024)
        offsets.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
        formats.removeAll(keepingCapacity: true)
        for value in values {
            let offset = bytes.count
            append(value)
            guard bytes.count <= ParameterBuffer.bytesMax else {
                throw .unavailable("parameters too large")
            }
            offsets.append(value == .null ? nil : offset)
            lengths.append(Int32(bytes.count - offset))
            formats.append(1)
        }
    }

    /// Calls `body` with the number, values, lengths and formats that libpq wants.
    func withPointers<Value>(
        _ body: (
            Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?,
            UnsafePointer<Int32>?
        ) -> Value
    ) -> Value {
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe withUnsafeTemporaryAllocation(
                of: UnsafePointer<CChar>?.self, capacity: max(1, offsets.count)
            ) { pointers in
                // An empty buffer may have no address, but nil would mean NULL.
                let start =
                    unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                    ?? UnsafePointer(bitPattern: 1)
                for (index, offset) in offsets.enumerated() {
                    unsafe pointers.initializeElement(
                        at: index,
                        to: offset.flatMap { offset in unsafe start.map { unsafe $0 + offset } })
                }
                return unsafe body(Int32(offsets.count), pointers.baseAddress, lengths, formats)
            }
        }
    }

    private mutating func append(_ value: PostgresValue) {
        switch value {
        case .null: break
        case .int8(let number): append(big: number)
        case .text(let text), .json(let text): bytes.append(contentsOf: text.utf8)
        case .bytea(let content), .uuid(let content): bytes.append(contentsOf: content)
        case .bool(let isTrue): bytes.append(isTrue ? 1 : 0)
        case .timestamptz(let milliseconds):
            append(big: PostgresTime.encode(milliseconds: milliseconds))
        case .int8Array(let numbers):
            appendNumbers(numbers, elementType: TypeID.int8) { $0 }
        case .timestamptzArray(let times):
            appendNumbers(times, elementType: TypeID.timestamptz, PostgresTime.encode)
        case .nullableTimestamptzArray(let times):
            appendHeader(times.count, TypeID.timestamptz, hasNulls: times.contains(nil))
            for time in times { appendTime(time) }
        case .textArray(let texts): appendArray(texts, elementType: TypeID.text)
        case .nullableTextArray(let texts): appendArray(texts, elementType: TypeID.text)
        case .byteaArray(let items): appendArray(items, elementType: TypeID.bytea)
        case .uuidArray(let items): appendArray(items, elementType: TypeID.uuid)
        case .records(let records):
            appendHeader(records.count, records.type, hasNulls: false)
            bytes.append(contentsOf: records.bytes)
        }
    }

    private mutating func appendNumbers(
        _ numbers: [Int64], elementType: UInt32, _ encode: (Int64) -> Int64
    ) {
        appendHeader(numbers.count, elementType, hasNulls: false)
        bytes.reserveCapacity(bytes.count + numbers.count * 12)
        for number in numbers {
            append(big: Int32(8))
            append(big: encode(number))
        }
    }

    private mutating func appendTime(_ milliseconds: Int64?) {
        guard let milliseconds else { return append(big: Int32(-1)) }
        append(big: Int32(8))
        append(big: PostgresTime.encode(milliseconds: milliseconds))
    }

    private mutating func appendArray(_ texts: [String], elementType: UInt32) {
        appendHeader(texts.count, elementType, hasNulls: false)
        for text in texts { appendElement(text.utf8) }
    }

    private mutating func appendArray(_ texts: [String?], elementType: UInt32) {
        appendHeader(texts.count, elementType, hasNulls: texts.contains(nil))
        for text in texts { appendElement(text?.utf8) }
    }

    private mutating func appendArray(_ items: [[UInt8]], elementType: UInt32) {
        appendHeader(items.count, elementType, hasNulls: false)
        for item in items { appendElement(item) }
    }

    private mutating func appendElement(_ content: (some Collection<UInt8>)?) {
        guard let content else { return append(big: Int32(-1)) }
        append(big: Int32(clamping: content.count))
        bytes.append(contentsOf: content)
    }

    /// One dimension from 1 on, or none if there are no elements.
    private mutating func appendHeader(_ count: Int, _ elementType: UInt32, hasNulls: Bool) {
        append(big: Int32(count == 0 ? 0 : 1))
        append(big: Int32(hasNulls ? 1 : 0))
        append(big: elementType)
        guard count > 0 else { return }
        append(big: Int32(clamping: count))
        append(big: Int32(1))
    }

    private mutating func append(big number: some FixedWidthInteger) {
        unsafe withUnsafeBytes(of: number.bigEndian) { unsafe bytes.append(contentsOf: $0) }
    }
}
