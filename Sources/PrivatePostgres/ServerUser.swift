import CLinux
import Glibc

/// The system user that PostgreSQL runs as.
struct ServerUser: Sendable {
    /// Whom PostgreSQL runs as when this process is root: the user of Debian's package.
    static let nameForRoot = "postgres"

    let name: String
    let userID: uid_t
    let groupID: gid_t
    /// Whether programs have to be started as somebody else.
    let isOther: Bool

    /// This process's user, or `nameForRoot` if that is root.
    static func choose() throws(PrivatePostgresError) -> ServerUser {
        if geteuid() != 0 {
            return ServerUser(
                name: "\(geteuid())", userID: geteuid(), groupID: getegid(), isOther: false)
        }
        guard let user = find(nameForRoot), user.userID != 0 else {
            throw .noSystemUser(nameForRoot)
        }
        return user
    }

    /// The command line that runs `command` as this user and, if wanted, asks the kernel to send
    /// it SIGINT, PostgreSQL's fast shutdown, when the thread that started it has ended.
    func commandLine(_ command: [String], diesWithParent: Bool = false) -> [String] {
        var line: [String] = []
        if isOther {
            line += ["--reuid", "\(userID)", "--regid", "\(groupID)", "--init-groups"]
        }
        if diesWithParent { line += ["--pdeathsig", "INT"] }
        guard !line.isEmpty, let setpriv = ServerUser.setpriv else { return command }
        return [setpriv] + line + ["--"] + command
    }

    /// The first folder on the way to `path` that the user can't pass through.
    func firstUnreachableFolder(of path: String) -> String? {
        guard isOther else { return nil }
        var folders = [path]
        while let last = folders.last, last != "/" { folders.append(Files.parent(last)) }
        return folders.reversed().first { !canEnter($0) }
    }

    private func canEnter(_ folder: String) -> Bool {
        let line = commandLine(["/usr/bin/test", "-x", folder])
        let test = try? ChildProcess.start(line[0], Array(line.dropFirst()), output: .discarded)
        return test?.wait(seconds: 10)?.isSuccess ?? false
    }

    private static let setpriv = ["/usr/bin/setpriv", "/bin/setpriv"].first(
        where: Files.isExecutable)

    private static func find(_ name: String) -> ServerUser? {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16 * 1024)
        guard unsafe getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0,
            unsafe found != nil
        else {
            return nil
        }
        return unsafe ServerUser(
            name: name, userID: entry.pw_uid, groupID: entry.pw_gid, isOther: true)
    }
}
