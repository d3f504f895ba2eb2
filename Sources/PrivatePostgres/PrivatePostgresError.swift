/// Why a private PostgreSQL could not be started or stopped.
package enum PrivatePostgresError: Error, Hashable, CustomStringConvertible {
    /// Neither `/usr/lib/postgresql` nor the path has `initdb` and `postgres`.
    case notInstalled
    /// The cluster was made by a version that isn't installed.
    case versionNotInstalled(String)
    /// PostgreSQL doesn't run as root, and the system user it should run as is missing.
    case noSystemUser(String)
    /// Something is wrong with a folder: which one, and what.
    case folder(String, String)
    /// Another live server, of this process id if it's known, uses the folder.
    case folderInUse(String, processID: Int32?)
    /// A program failed: its name and the end of what it said.
    case failed(String, String)
    /// The server wasn't ready, or hadn't ended, in time.
    case timeout(String)

    package var description: String {
        switch self {
        case .notInstalled:
            "PostgreSQL isn't installed: no initdb in /usr/lib/postgresql/*/bin or the path"
        case .versionNotInstalled(let version):
            "the cluster was made by PostgreSQL \(version), which isn't installed"
        case .noSystemUser(let name):
            "PostgreSQL doesn't run as root, and there is no system user '\(name)' to run it as"
        case .folder(let path, let problem): "the folder \(path) \(problem)"
        case .folderInUse(let path, let process):
            "the folder \(path) is used by another server"
                + (process.map { " (process \($0))" } ?? "")
        case .failed(let program, let output): "\(program) failed: \(output)"
        case .timeout(let what): "\(what) took too long"
        }
    }
}
