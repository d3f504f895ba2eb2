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

    package func remove() {
        let rm = try? ChildProcess.start("/bin/rm", ["-rf", path], output: .discarded)
        _ = rm?.wait(seconds: 30)
    }
}
