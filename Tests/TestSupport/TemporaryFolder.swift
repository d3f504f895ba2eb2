import Base
import Glibc
package import PrivatePostgres

/// An empty folder under `/tmp`, which every user may enter.
package struct TemporaryFolder: Sendable {
    package let path: String

    package init() throws(SystemError) {
        var template = Array("/tmp/coinledger-test-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw SystemError.last }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        chmod(path, 0o755)
    }

    /// One that is removed when the process exits.
    package static func untilExit() throws(SystemError) -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let isFirst = removedAtExit.withLock { folders in
            folders.append(folder)
            return folders.count == 1
        }
        if isFirst { atexit { for folder in removedAtExit.withLock({ $0 }) { folder.remove() } } }
        return folder
    }

    package func remove() {
        let rm = try? ChildProcess.start("/bin/rm", ["-rf", path], output: .discarded)
        _ = rm?.wait(seconds: 30)
    }
}

private let removedAtExit = Lock<[TemporaryFolder]>([])
