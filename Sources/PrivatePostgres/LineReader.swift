import Base
import Glibc

/// Reads lines from a pipe, each up to a limit.
final class LineReader: Sendable {
    /// The longest line that is accepted.
    static let lineBytesMax = 64 * 1024

    private let descriptor: Int32
    private let buffered = Lock<[UInt8]>([])

    /// Takes over `descriptor`, which is closed at the end.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// The next line without its end, or nil at the end of the output.
    func next(seconds: Double) throws(ChildProcessError) -> String? {
        let deadline = Clock.after(seconds: seconds)
        return try buffered.withLock { (buffer) throws(ChildProcessError) -> String? in
            var searched = 0
            while true {
                if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                    let line = String(decoding: buffer[..<end], as: UTF8.self)
                    buffer.removeFirst(end + 1)
                    return line
                }
                searched = buffer.count
                guard searched <= LineReader.lineBytesMax else { throw .lineTooLong }
                guard Descriptor.waitReadable(descriptor, until: deadline) else { throw .timeout }
                if try !fill(&buffer) {
                    defer { buffer = [] }
                    return buffer.isEmpty ? nil : String(decoding: buffer, as: UTF8.self)
                }
            }
        }
    }

    /// Appends what there is; false at the end of the output.
    private func fill(_ buffer: inout [UInt8]) throws(ChildProcessError) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 4096)
        let count = unsafe read(descriptor, &chunk, chunk.count)
        if count < 0, errno != EINTR { throw .system("read", .last) }
        guard count != 0 else { return false }
        buffer.append(contentsOf: chunk.prefix(max(0, count)))
        return true
    }
}
