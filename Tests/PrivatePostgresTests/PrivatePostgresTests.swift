import Glibc
import PrivatePostgres
import TestSupport
import Testing

// One after the other, since most of them use one cluster, which takes its time to be made.
@Suite(.serialized) struct `A private PostgreSQL` {
    private static let shared = Result { try TemporaryFolder.untilExit() }
    private let folder: TemporaryFolder

    init() throws { folder = try Self.shared.get() }

    @Test func `keeps its data over stop, kill and restart`() throws {
        // What a start that was killed half-way leaves behind.
        mkdir(folder.path + "/data.unfinished", 0o700)
        mkdir(folder.path + "/data.unfinished/base", 0o700)
        let first = try PrivatePostgres.start(folder: folder.path)
        try psql(first, "CREATE TABLE kept (n bigint); INSERT INTO kept VALUES (1)")
        #expect(try psql(first, "SHOW fsync") == "on")
        #expect(try psql(first, "SHOW synchronous_commit") == "on")
        #expect(try psql(first, "SHOW listen_addresses") == "")
        #expect(try psql(first, "SHOW server_encoding") == "UTF8")
        #expect(try psql(first, "SHOW lc_collate") == "C")

        #expect(throws: PrivatePostgresError.folderInUse(folder.path, processID: first.processID)) {
            try PrivatePostgres.start(folder: folder.path)
        }

        try first.kill()
        #expect(first.processID == nil)
        try first.restart()
        #expect(try psql(first, "INSERT INTO kept VALUES (2); SELECT count(*) FROM kept") == "2")
        try first.restart()
        #expect(try psql(first, "SELECT count(*) FROM kept") == "2")
        try first.stop()
        #expect(first.processID == nil)

        // What a kill -9 and a reused process id leave behind: a number that isn't PostgreSQL's.
        try writePIDFile(of: folder, processID: getppid())
        let second = try PrivatePostgres.start(
            folder: folder.path, settings: [("max_wal_size", "3GB")])
        #expect(try psql(second, "SELECT count(*) FROM kept") == "2")
        #expect(try psql(second, "SHOW max_wal_size") == "3GB")
        try second.stop()
    }

    @Test func `starts after somebody else killed its postmaster only`() throws {
        let postgres = try PrivatePostgres.start(folder: folder.path)
        let session = try ChildProcess.start(
            "/usr/bin/psql",
            ["-XAtq", "-d", postgres.adminURL, "-c", "SELECT 'here'", "-c", "SELECT pg_sleep(60)"],
            output: .pipe)
        #expect(try session.readLine(seconds: 10) == "here")
        _ = Glibc.kill(try #require(postgres.processID), SIGKILL)
        try postgres.restart()
        #expect(try psql(postgres, "SELECT 1") == "1")
        session.kill()
        try postgres.stop()
        try postgres.stop()
    }

    @Test func `in a deep folder has its socket elsewhere`() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let deep = folder.path + "/" + String(repeating: "deep", count: 25)
        let postgres = try PrivatePostgres.start(folder: deep, port: 6543)
        #expect(postgres.adminURL.contains("host=/tmp/coinledger-"))
        #expect(try psql(postgres, "SELECT 1") == "1")
        try postgres.stop()
    }

    @Test func `does not start on settings it refuses`() throws {
        let error = #expect(throws: PrivatePostgresError.self) {
            try PrivatePostgres.start(folder: folder.path, settings: [("no_such_setting", "1")])
        }
        #expect(error?.description.contains("no_such_setting") == true)
    }

    @Test func `names the folder its user cannot enter`() throws {
        guard geteuid() == 0 else { return }
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        chmod(folder.path, 0o700)
        let error = #expect(throws: PrivatePostgresError.self) {
            try PrivatePostgres.start(folder: folder.path + "/below/it")
        }
        guard case .folder(folder.path, _) = error else {
            Issue.record("unexpected: \(String(describing: error))")
            return
        }
    }

    @Test func `leaves a folder of other things alone`() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        mkdir(folder.path + "/data", 0o755)
        #expect(throws: PrivatePostgresError.self) {
            try PrivatePostgres.start(folder: folder.path)
        }
    }

    private func writePIDFile(of folder: TemporaryFolder, processID: Int32) throws {
        let child = try ChildProcess.start(
            "/bin/sh", ["-c", "echo \(processID) > \(folder.path)/data/postmaster.pid"])
        #expect(child.wait(seconds: 10) == .code(0))
    }

    @discardableResult
    private func psql(_ postgres: PrivatePostgres, _ sql: String) throws -> String? {
        let child = try ChildProcess.start(
            "/usr/bin/psql", ["-XAtq", "-d", postgres.adminURL, "-c", sql], output: .pipe,
            mergesErrors: true)
        let line = try child.readLine(seconds: 30)
        #expect(child.wait(seconds: 30) == .code(0), "\(line ?? "")")
        return line
    }
}
