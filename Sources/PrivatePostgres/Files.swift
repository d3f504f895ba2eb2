import Glibc

/// The few questions and changes to the file system that are needed here.
enum Files {
    struct Status {
        let isFolder: Bool
        let owner: uid_t
    }

    static func status(_ path: String) -> Status? {
        var result = stat()
        guard unsafe stat(path, &result) == 0 else { return nil }
        return Status(isFolder: result.st_mode & S_IFMT == S_IFDIR, owner: result.st_uid)
    }

    static func exists(_ path: String) -> Bool { status(path) != nil }

    static func isExecutable(_ path: String) -> Bool {
        unsafe status(path)?.isFolder == false && access(path, X_OK) == 0
    }

    /// Makes the folder and those above it that are missing. A folder that exists is left alone.
    static func makeFolder(_ path: String, mode: mode_t) throws(PrivatePostgresError) {
        if status(path)?.isFolder == true { return }
        let above = parent(path)
        if above != path { try makeFolder(above, mode: 0o755) }
        guard unsafe mkdir(path, mode) == 0 || errno == EEXIST else {
            throw .folder(path, "can't be made: \(SystemError.last)")
        }
    }

    static func give(_ path: String, to user: ServerUser) throws(PrivatePostgresError) {
        guard unsafe chown(path, user.userID, user.groupID) == 0 else {
            throw .folder(path, "can't be given to \(user.name): \(SystemError.last)")
        }
    }

    /// The names in a folder, without the two dotted ones; empty if it can't be read.
    static func names(in folder: String) -> [String] {
        guard let handle = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(handle) }
        var names: [String] = []
        while let entry = unsafe readdir(handle) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) {
                unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// The first bytes of a file as text, or nil if it can't be read.
    static func text(_ path: String, bytesMax: Int = 16 * 1024) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return read(descriptor, bytesMax)
    }

    /// The last bytes of a file as text, or nil if it can't be read.
    static func tail(_ path: String, bytesMax: Int = 2048) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let size = lseek(descriptor, 0, SEEK_END)
        lseek(descriptor, max(0, size - bytesMax), SEEK_SET)
        return read(descriptor, bytesMax)
    }

    static func size(_ path: String) -> Int {
        var result = stat()
        return unsafe stat(path, &result) == 0 ? Int(result.st_size) : 0
    }

    static func parent(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The path from the root on, without a slash at its end.
    static func absolute(_ path: String) -> String {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        if path.hasPrefix("/") { return path }
        guard let current = unsafe getcwd(nil, 0) else { return path }
        // Allocated by getcwd.
        defer { unsafe free(current) }
        return unsafe String(cString: current) + "/" + path
    }

    private static func read(_ descriptor: Int32, _ bytesMax: Int) -> String? {
        var bytes = [UInt8](repeating: 0, count: bytesMax)
        var filled = 0
        while filled < bytesMax {
            let count = unsafe bytes.withUnsafeMutableBytes {
                unsafe Glibc.read(
                    descriptor, $0.baseAddress?.advanced(by: filled), bytesMax - filled)
            }
            if count < 0 { return nil }
            if count == 0 { break }
            filled += count
        }
        return String(decoding: bytes.prefix(filled), as: UTF8.self)
    }
}
