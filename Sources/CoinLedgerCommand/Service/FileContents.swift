import Glibc

/// Reads and writes small files whole.
enum FileContents {
    /// No file that is read here is larger.
    static let bytesMax = 16 << 20

    static func read(_ path: String) throws(UsageError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw UsageError("can't read \(path): \(lastError)") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= bytesMax {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count >= 0 else { throw UsageError("can't read \(path): \(lastError)") }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
        throw UsageError("\(path) is too large")
    }

    /// Replaces the file in one step; only its owner may read it.
    static func replace(_ path: String, with bytes: [UInt8]) throws(UsageError) {
        let temporary = path + ".new"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw UsageError("can't write \(path): \(lastError)") }
        let written = write(descriptor, bytes, bytes.count)
        close(descriptor)
        guard written == bytes.count, rename(temporary, path) == 0 else {
            throw UsageError("can't write \(path): \(lastError)")
        }
    }

    private static var lastError: String { String(cString: strerror(errno)) }
}
