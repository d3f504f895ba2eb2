import CLinux
import Glibc

/// The folder of one private PostgreSQL: `data`, the cluster; `postgres.log`; `lock`, which tells
/// whether a process holds the folder; and `socket`, if its path is short enough for a socket.
struct ClusterFolder: Sendable {
    let path: String
    let port: UInt16
    let user: ServerUser

    /// A Unix socket's path may have this many bytes.
    static let socketPathBytesMax = 107
    static let initdbSecondsMax = 120.0

    var data: String { path + "/data" }
    var log: String { path + "/postgres.log" }

    init(path: String, port: UInt16, user: ServerUser) {
        (self.path, self.port, self.user) = (Files.absolute(path), port, user)
    }

    /// Makes the folder if it's missing and takes its lock.
    ///
    /// - Returns: the descriptor that holds the lock until it's closed.
    func lock() throws(PrivatePostgresError) -> Int32 {
        try Files.makeFolder(path, mode: 0o755)
        if let folder = user.firstUnreachableFolder(of: path) {
            throw .folder(
                folder,
                "can't be entered by the system user '\(user.name)', as which PostgreSQL runs; "
                    + "allow it (chmod o+x) or choose another folder than \(path)")
        }
        let descriptor = unsafe open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .folder(path, "can't be written: \(SystemError.last)") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw .folderInUse(path, processID: ServerProcesses.postmaster(of: data))
        }
        return descriptor
    }

    /// Makes the cluster if there is none. The folder appears under its name when it's complete.
    func makeCluster(
        _ installation: PostgresInstallation, superuser: String
    ) throws(PrivatePostgresError) {
        if Files.exists(data + "/PG_VERSION") {
            if let owner = Files.status(data)?.owner, owner != user.userID, user.isOther {
                try run(["/bin/chown", "-R", "\(user.userID):\(user.groupID)", data])
            }
            return
        }
        guard !Files.exists(data) else {
            throw .folder(data, "exists, but holds no PostgreSQL cluster")
        }
        let unfinished = path + "/data.unfinished"
        if Files.exists(unfinished) { try run(["/bin/rm", "-r", unfinished]) }
        try Files.makeFolder(unfinished, mode: 0o700)
        try Files.give(unfinished, to: user)
        try run(
            user.commandLine([
                installation.initdb, "--pgdata", unfinished, "--username", superuser,
                "--encoding", "UTF8", "--locale", "C", "--auth", "trust",
            ]))
        guard unsafe rename(unfinished, data) == 0 else {
            throw .folder(unfinished, "can't be renamed: \(SystemError.last)")
        }
    }

    /// Where the socket goes: a folder that only the server's user and root can enter.
    func socketFolder() throws(PrivatePostgresError) -> SocketFolder {
        let inside = path + "/socket"
        if inside.utf8.count + socketName.utf8.count < ClusterFolder.socketPathBytesMax {
            return SocketFolder(path: inside, isTemporary: false)
        }
        var template = Array("/tmp/coinledger-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw .folder("/tmp", "can't be written: \(SystemError.last)")
        }
        let made = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        return SocketFolder(path: made, isTemporary: true)
    }

    /// Removes a `postmaster.pid` whose number now belongs to a process that is no postmaster of
    /// this folder. PostgreSQL itself removes one whose process is gone.
    func removeStalePIDFile() {
        guard let process = ServerProcesses.recordedPostmaster(of: data),
            ServerProcesses.isAlive(process),
            ServerProcesses.postmaster(of: data) == nil
        else { return }
        unsafe unlink(data + "/postmaster.pid")
    }

    private var socketName: String { ".s.PGSQL.\(port)" }

    private func run(_ line: [String]) throws(PrivatePostgresError) {
        let logged = Files.size(log)
        let exit: ChildProcess.Exit?
        do {
            let child = try ChildProcess.start(
                line[0], Array(line.dropFirst()), environment: ClusterFolder.environment,
                workingDirectory: "/", output: .file(log), mergesErrors: true)
            exit = child.wait(seconds: ClusterFolder.initdbSecondsMax)
            if exit == nil { child.kill() }
        } catch {
            throw .failed(line[0], "\(error)")
        }
        guard let exit else { throw .timeout(line[0]) }
        guard exit.isSuccess else {
            let said = Files.tail(log, bytesMax: max(1, min(2048, Files.size(log) - logged)))
            throw .failed(line.first { $0.hasSuffix("/initdb") } ?? line[0], said ?? "\(exit)")
        }
    }

    /// English messages and no setting of the caller's.
    static let environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"]
}

/// Where a server's socket is.
struct SocketFolder: Sendable {
    let path: String
    let isTemporary: Bool

    func make(for user: ServerUser) throws(PrivatePostgresError) {
        try Files.makeFolder(path, mode: 0o700)
        try Files.give(path, to: user)
    }

    func remove(port: UInt16) {
        guard isTemporary else { return }
        unsafe unlink("\(path)/.s.PGSQL.\(port)")
        unsafe unlink("\(path)/.s.PGSQL.\(port).lock")
        unsafe rmdir(path)
    }
}
