/// Bytes in the making, in memory of their own: an array would ask for its owner and for room whenever
/// a few bytes are appended, which is most of what writing JSON costs.
@safe struct ByteWriter: ~Copyable {
    // Freed in `deinit`. The first `count` bytes are written; none beyond them is read.
    private var memory: UnsafeMutableBufferPointer<UInt8>
    private var count = 0

    init(capacity: Int) { unsafe memory = .allocate(capacity: max(1, capacity)) }

    deinit { unsafe memory.deallocate() }

    /// What has been written.
    consuming func finish() -> [UInt8] { unsafe Array(memory[..<count]) }

    mutating func append(_ byte: UInt8) {
        makeRoom(for: 1)
        unsafe memory[count] = byte
        count += 1
    }

    mutating func append(_ text: StaticString) {
        unsafe append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func append(_ bytes: borrowing Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append($0) }
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

    private mutating func makeRoom(for more: Int) {
        guard unsafe memory.count - count < more else { return }
        let larger = unsafe UnsafeMutableBufferPointer<UInt8>.allocate(
            capacity: max(memory.count * 2, count + more))
        _ = unsafe larger.update(fromContentsOf: memory[..<count])
        unsafe memory.deallocate()
        unsafe memory = unsafe larger
    }
}
