import Base
import Glibc

/// A PostgreSQL of one's own in a folder, for development, tests and benchmarks.
///
/// It listens on a Unix socket only, trusts whoever can reach that (its user and root), and is
/// as durable as PostgreSQL is by default. When this process dies, the kernel tells it to shut
/// down. Its log is `postgres.log` in the folder. Calls block and may be made on any thread.
package final class PrivatePostgres: Sendable {
    package let folder: String
    package let superuser: String
    package let port: UInt16

    private let cluster: ClusterFolder
    private let installation: PostgresInstallation
    private let settings: [(String, String)]
    private let socket: SocketFolder
    private let state: Lock<State>

    private struct State {
        var server: ChildProcess?
        /// Holds the folder's lock until it's closed.
        var lock: Int32?
    }

    /// How long the server may take until it accepts connections, recovery included.
    package static let startSecondsMax = 60.0
    /// How long a shutdown may take before the server is killed.
    package static let stopSecondsMax = 30.0
    /// How long a start waits for the server of a process that has just died to shut down.
    package static let handoverSecondsMax = 10.0

    /// Starts the PostgreSQL of `folder`; makes both if they don't exist.
    ///
    /// As root, PostgreSQL runs as the system user `postgres`, to whom the cluster is given.
    ///
    /// - Parameters:
    ///   - port: names the socket only.
    ///   - settings: given to the server besides the defaults, such as `("shared_buffers", "1GB")`.
    package static func start(
        folder: String, port: UInt16 = 5432, settings: [(String, String)] = [],
        superuser: String = "postgres"
    ) throws(PrivatePostgresError) -> PrivatePostgres {
        let cluster = ClusterFolder(path: folder, port: port, user: try ServerUser.choose())
        let lock = try cluster.lock()
        do {
            let installation = try PostgresInstallation.find(dataFolder: cluster.data)
            try cluster.makeCluster(installation, superuser: superuser)
            let postgres = PrivatePostgres(
                cluster, installation, settings, try cluster.socketFolder(), superuser)
            try postgres.state.withLock { (state) throws(PrivatePostgresError) in
                state.server = try postgres.launch()
                state.lock = lock
            }
            return postgres
        } catch {
            close(lock)
            throw error
        }
    }

    private init(
        _ cluster: ClusterFolder, _ installation: PostgresInstallation,
        _ settings: [(String, String)], _ socket: SocketFolder, _ superuser: String
    ) {
        (folder, port, self.superuser) = (cluster.path, cluster.port, superuser)
        (self.cluster, self.installation, self.settings) = (cluster, installation, settings)
        (self.socket, state) = (socket, Lock(State()))
    }

    deinit { try? stop() }

    /// libpq's string for the superuser and the database `postgres`.
    package var adminURL: String { connectionString(database: "postgres", user: nil) }

    /// libpq's URI for a database; `user` nil is the superuser.
    package func connectionString(database: String, user: String? = nil) -> String {
        let parameters = [("host", socket.path), ("port", "\(port)"), ("user", user ?? superuser)]
        let query = parameters.map { "\($0)=\(PrivatePostgres.encoded($1))" }
        return "postgresql:///\(PrivatePostgres.encoded(database))?\(query.joined(separator: "&"))"
    }

    /// The postmaster's process id, while it runs.
    package var processID: Int32? { state.withLock { $0.server?.processID } }

    /// Shuts down fast, ending whatever is connected, waits for that, and leaves the folder free.
    package func stop() throws(PrivatePostgresError) {
        try state.withLock { (state) throws(PrivatePostgresError) in
            try shutDown(&state)
            if let lock = state.lock { close(lock) }
            state.lock = nil
        }
        socket.remove(port: port)
    }

    /// Kills the postmaster and all its children with SIGKILL and waits until they are gone.
    package func kill() throws(PrivatePostgresError) {
        try state.withLock { (state) throws(PrivatePostgresError) in
            guard let server = state.server else { return }
            try killAll(server)
            state.server = nil
        }
    }

    /// Starts the server again, after `kill` or `stop` or in place of the one that runs.
    package func restart() throws(PrivatePostgresError) {
        try state.withLock { (state) throws(PrivatePostgresError) in
            try shutDown(&state)
            if state.lock == nil { state.lock = try cluster.lock() }
            state.server = try launch()
        }
    }

    private func shutDown(_ state: inout State) throws(PrivatePostgresError) {
        guard let server = state.server else { return }
        server.terminate(SIGINT)
        if server.wait(seconds: PrivatePostgres.stopSecondsMax) == nil { try killAll(server) }
        state.server = nil
    }

    private func killAll(_ postmaster: ChildProcess) throws(PrivatePostgresError) {
        // Stopped first, so that it neither starts nor ends a child while they are looked up.
        postmaster.terminate(SIGSTOP)
        let children = ServerProcesses.children(of: postmaster.processID)
        postmaster.kill()
        for child in children { _ = Glibc.kill(child, SIGKILL) }
        let deadline = Clock.after(seconds: PrivatePostgres.stopSecondsMax)
        let areGone = Clock.poll(until: deadline) {
            !children.contains(where: ServerProcesses.isAlive)
        }
        guard areGone, postmaster.wait(seconds: PrivatePostgres.stopSecondsMax) != nil else {
            throw .timeout("killing PostgreSQL")
        }
    }

    /// PostgreSQL refuses to start while a killed server's last processes are still ending; that
    /// passes, so it's tried again until then.
    private func launch() throws(PrivatePostgresError) -> ChildProcess {
        let deadline = Clock.after(seconds: PrivatePostgres.handoverSecondsMax)
        let isFree = Clock.poll(until: deadline) {
            ServerProcesses.postmaster(of: cluster.data) == nil
        }
        guard isFree else {
            throw .folderInUse(folder, processID: ServerProcesses.postmaster(of: cluster.data))
        }
        cluster.removeStalePIDFile()
        try socket.make(for: cluster.user)
        while true {
            do {
                return try launchOnce()
            } catch .failed(_, let said)
                where said.contains("shared memory block") && Clock.now() < deadline
            {
                usleep(20_000)
            }
        }
    }

    private func launchOnce() throws(PrivatePostgresError) -> ChildProcess {
        let logged = Files.size(cluster.log)
        let line = cluster.user.commandLine(serverCommand, diesWithParent: true)
        let child: ChildProcess
        do {
            child = try ChildProcess.start(
                line[0], Array(line.dropFirst()), environment: ClusterFolder.environment,
                workingDirectory: "/", output: .file(cluster.log), mergesErrors: true)
        } catch {
            throw .failed("postgres", "\(error)")
        }
        var exit: ChildProcess.Exit?
        let deadline = Clock.after(seconds: PrivatePostgres.startSecondsMax)
        let hasSettled = Clock.poll(until: deadline) {
            exit = child.wait(seconds: 0)
            return exit != nil
                || ServerProcesses.isReady(child.processID, dataFolder: cluster.data)
        }
        if let exit {
            let bytes = max(1, min(2048, Files.size(cluster.log) - logged))
            throw .failed("postgres", Files.tail(cluster.log, bytesMax: bytes) ?? "\(exit)")
        }
        guard hasSettled else {
            child.kill()
            throw .timeout("starting PostgreSQL")
        }
        return child
    }

    private var serverCommand: [String] {
        // The folder's name is an element of a list, in which quotes protect commas.
        let all =
            [
                ("listen_addresses", ""), ("unix_socket_directories", "\"\(socket.path)\""),
                ("unix_socket_permissions", "0700"), ("port", "\(port)"),
                ("logging_collector", "off"), ("timezone", "UTC"), ("log_timezone", "UTC"),
            ] + settings
        return [installation.postgres, "-D", cluster.data]
            + all.flatMap { ["-c", "\($0)=\($1)"] }
    }

    /// Percent-encodes all but the unreserved characters (RFC 3986, section 2.3) and slashes.
    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let character = Character(Unicode.Scalar(byte))
            let isPlain = character.isASCII && (character.isLetter || character.isNumber)
            return isPlain || "-._~/".contains(character)
                ? String(character) : "%" + Hex.encode([byte])
        }.joined()
    }
}
