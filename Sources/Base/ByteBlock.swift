import Glibc

/// Eight bytes, looked at together: for the long texts that most of what comes in consists of, such as
/// receipts, where a loop over single bytes would be a twentieth of a purchase's cost.
///
/// In the machine's own words, with the highest bit of each byte for the answer; the vectors of the
/// standard library are compiled to far slower code.
struct ByteBlock {
    static let count = 8

    private let bytes: UInt64

    /// - Parameter index: of the first; all of them must be in `memory`.
    init(_ memory: UnsafeBufferPointer<UInt8>, at index: Int) {
        unsafe bytes = UnsafeRawBufferPointer(memory)
            .loadUnaligned(fromByteOffset: index, as: UInt64.self)
    }

    var isASCII: Bool { bytes & ByteBlock.highBits == 0 }

    /// Whether a JSON string goes on after them: no quotation mark, backslash or control character.
    var isPlainJSON: Bool {
        let controls = (bytes &- 0x20 * ByteBlock.ones) & ~bytes
        let marks = zeros(after: UInt8(ascii: "\"")) | zeros(after: UInt8(ascii: "\\"))
        return (controls | marks) & ByteBlock.highBits == 0
    }

    /// Whether all are of base64url's alphabet.
    var areURLDigits: Bool {
        guard isASCII else { return false }
        // Both cases of a letter differ in one bit.
        let lowercase = ByteBlock(bytes: bytes | 0x20 * ByteBlock.ones)
        let letters = lowercase.atLeast(UInt8(ascii: "a")) & ~lowercase.atLeast(UInt8(ascii: "{"))
        let digits = atLeast(UInt8(ascii: "0")) & ~atLeast(UInt8(ascii: ":"))
        let hyphens = atLeast(UInt8(ascii: "-")) & ~atLeast(UInt8(ascii: "."))
        let underscores = atLeast(UInt8(ascii: "_")) & ~atLeast(UInt8(ascii: "`"))
        return (letters | digits | hyphens | underscores) & ByteBlock.highBits
            == ByteBlock.highBits
    }

    private init(bytes: UInt64) { self.bytes = bytes }

    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// Some high bit is set if and only if some byte is `byte`.
    private func zeros(after byte: UInt8) -> UInt64 {
        let difference = bytes ^ UInt64(byte) * ByteBlock.ones
        return (difference &- ByteBlock.ones) & ~difference
    }

    /// The high bit of each byte that is `byte` or more; of ASCII only, whose sums don't carry.
    private func atLeast(_ byte: UInt8) -> UInt64 {
        bytes &+ UInt64(0x80 - byte) * ByteBlock.ones
    }
}

extension Span<UInt8> {
    /// The first byte from `start` on that a JSON string can't hold as it is (a quotation mark, a
    /// backslash or a control character), or the end; and whether all before it are ASCII.
    ///
    /// Texts are most of what is read and written (a receipt may have a megabyte), so this is the loop
    /// that counts: it goes over memory, and over many bytes at a time.
    func plainJSONEnd(from start: Int) -> (index: Int, isASCII: Bool) {
        unsafe withUnsafeBufferPointer { memory in
            var union: UInt8 = 0
            var start = start
            while start + ByteBlock.count <= memory.count {
                let block = unsafe ByteBlock(memory, at: start)
                guard block.isPlainJSON else { break }
                if !block.isASCII { union = 0x80 }
                start += ByteBlock.count
            }
            for index in start..<memory.count {
                let byte = unsafe memory[index]
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 {
                    return (index, union < 0x80)
                }
                union |= byte
            }
            return (memory.count, union < 0x80)
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Where `byte` comes first, from `start` on.
    package func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        guard let base = baseAddress, start < count,
            let found = unsafe memchr(base + start, Int32(byte), count - start)
        else { return nil }
        return unsafe UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }
}
