/// Bytes in the making, in memory of their own: an array would ask for its owner and for room whenever
/// a few bytes are appended, which is most of what writing JSON or rows costs.
@safe package struct ByteWriter: ~Copyable {
    // Freed in `deinit`. The first `count` bytes are written; none beyond them is read.
    private var memory: UnsafeMutableBufferPointer<UInt8>
    package private(set) var count = 0

    package init(capacity: Int) { unsafe memory = .allocate(capacity: max(1, capacity)) }

    deinit { unsafe memory.deallocate() }

    /// What has been written.
    package consuming func finish() -> [UInt8] { unsafe Array(memory[..<count]) }

    /// Makes room for so many bytes in all.
    package mutating func reserve(_ capacity: Int) { makeRoom(for: capacity - count) }

    @inline(__always) mutating func append(_ byte: UInt8) {
        makeRoom(for: 1)
        unsafe memory[count] = byte
        count += 1
    }

    mutating func append(_ text: StaticString) {
        unsafe append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    package mutating func append(_ bytes: borrowing Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append($0) }
    }

    /// Appends the highest byte first.
    package mutating func append(big number: UInt64) {
        makeRoom(for: 8)
        store(number.bigEndian, at: count)
        count += 8
    }

    /// Appends both, the highest byte first.
    package mutating func append(big one: UInt64, _ other: UInt64) {
        makeRoom(for: 16)
        store(one.bigEndian, at: count)
        store(other.bigEndian, at: count + 8)
        count += 16
    }

    /// Puts a number, the highest byte first, where four bytes have been written before.
    package mutating func replace(at index: Int, big number: UInt32) {
        precondition(index >= 0 && index + 4 <= count, "only what was written is replaced")
        store(number.bigEndian, at: index)
    }

    /// There must be room.
    private func store<Number: FixedWidthInteger & BitwiseCopyable>(
        _ number: Number, at index: Int
    ) {
        unsafe UnsafeMutableRawBufferPointer(memory)
            .storeBytes(of: number, toByteOffset: index, as: Number.self)
    }

    mutating func append(decimal number: UInt64) {
        makeRoom(for: ByteWriter.decimalBytesMax)
        let start = count
        var rest = number
        repeat {
            unsafe memory[count] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            count += 1
            rest /= 10
        } while rest > 0
        unsafe memory[start..<count].reverse()
    }

    private static let decimalBytesMax = 20

    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        makeRoom(for: bytes.count)
        guard let source = bytes.baseAddress, let start = unsafe memory.baseAddress else {
            return
        }
        unsafe (start + count).update(from: source, count: bytes.count)
        count += bytes.count
    }

    @inline(__always) private mutating func makeRoom(for more: Int) {
        if unsafe memory.count - count < more { grow(by: more) }
    }

    @inline(never) private mutating func grow(by more: Int) {
        let larger = unsafe UnsafeMutableBufferPointer<UInt8>.allocate(
            capacity: max(memory.count * 2, count + more))
        _ = unsafe larger.update(fromContentsOf: memory[..<count])
        unsafe memory.deallocate()
        unsafe memory = unsafe larger
    }
}
