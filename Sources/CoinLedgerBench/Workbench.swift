import AppStore
import AppStoreStandIn
import Base
import CoinLedger
import EventLoop
import EventStore
import Glibc
import Postgres
import PostgresEventStore
import PrivatePostgres

/// The private PostgreSQL, its databases, and a folder for files, of one run.
final class Workbench {
    let options: BenchmarkOptions
    let folder: String
    let loop = EventLoop()
    let postgres: PrivatePostgres
    let authority: StandInAuthority

    /// Of the ledger that is written to without HTTP.
    static let appendLanes: Int64 = 2
    static let bundleID = "com.example.bench"
    static let productID = "coins100"
    static let stampID = "heart"

    private static let settings = [
        ("fsync", "on"), ("synchronous_commit", "on"), ("shared_buffers", "1GB"),
        ("max_wal_size", "8GB"), ("min_wal_size", "2GB"), ("checkpoint_timeout", "30min"),
        ("max_connections", "200"),
    ]

    /// How many segments of 16 MB the log of a round may fill.
    private static let recycledSegments = 128
    private static let segmentsAtOnce = 16

    init(_ options: BenchmarkOptions) throws {
        self.options = options
        var template = Array("/tmp/coinledger-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw BenchmarkError("can't make a folder in /tmp") }
        folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        chmod(folder, 0o755)
        postgres = try PrivatePostgres.start(
            folder: "\(folder)/postgres", settings: Workbench.settings)
        authority = StandInAuthority(now: Int64(time(nil)))
        try makeLogSegments()
        try makeLedger("append", lanes: Workbench.appendLanes)
        try makeLedger("service", lanes: Migrator.defaultLaneCount)
    }

    func tearDown() {
        try? postgres.stop()
        let remove = try? ChildProcess.start("/bin/rm", ["-rf", folder])
        _ = remove?.wait(seconds: 60)
    }

    var conditions: String {
        let settings = Workbench.settings.map { "\($0)=\($1)" }.joined(separator: ", ")
        return "\(sysconf(Int32(_SC_NPROCESSORS_ONLN))) cores; \(settings); "
            + "\(options.seconds) s a measurement, \(options.rounds) rounds\n"
    }

    func connectionString(_ database: String) -> String {
        postgres.connectionString(database: database)
    }

    /// Runs `body` as a task of the loop.
    func onLoop<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) throws -> Value {
        let result: Result<Value, any Error> = loop.run {
            do { return .success(try await body()) } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// Runs SQL that answers nothing.
    func script(_ sql: String, in database: String) throws {
        var patient = try PostgresConfiguration(connectionString(database))
        // On a busy disk, making the log's segments takes longer than any statement of the service.
        patient.statementTimeoutMilliseconds = nil
        patient.answerTimeoutMilliseconds = 120_000
        let (configuration, loop) = (patient, loop)
        try onLoop {
            let connection = try await PostgresConnection.connect(configuration, on: loop)
            defer { connection.close() }
            try await connection.script(sql)
        }
    }

    /// Gives the server's log as many segments as it needs.
    ///
    /// A young server makes a segment whenever one is full, which holds every commit up for some
    /// 50 ms; one that has run for a while uses its old ones again.
    private func makeLogSegments() throws {
        // A few at a time, since a slow disk takes longer for all of them than a statement may.
        for _ in 0..<(Workbench.recycledSegments / Workbench.segmentsAtOnce) {
            try script(
                """
                DO $$
                BEGIN
                    FOR segment IN 1..\(Workbench.segmentsAtOnce) LOOP
                        PERFORM pg_logical_emit_message(false, 'coinledger-bench', '');
                        PERFORM pg_switch_wal();
                    END LOOP;
                END;
                $$;
                """, in: "postgres")
        }
        try recycleLogSegments()
    }

    /// Lets the segments of the last round be used again.
    func recycleLogSegments() throws { try script("CHECKPOINT", in: "postgres") }

    private func makeLedger(_ database: String, lanes: Int64) throws {
        try script("CREATE DATABASE \(database)", in: "postgres")
        let configuration = try PostgresConfiguration(connectionString(database))
        let loop = loop
        _ = try onLoop {
            try await Migrator(configuration, on: loop).migrate(laneCount: lanes)
        }
    }

    /// Where this program lies, and `coinledger` beside it.
    static var binaryFolder: String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { readlink("/proc/self/exe", $0, bytes.count) } ?? 0
        }
        let path = String(decoding: buffer[..<max(0, count)], as: UTF8.self)
        return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }

    /// Runs a program to its end and returns what it wrote.
    func output(of executable: String, _ arguments: [String]) throws -> String {
        let child = try ChildProcess.start(
            "/usr/bin/env", [executable] + arguments, output: .pipe, mergesErrors: true)
        let limitSeconds = Double(options.seconds) + 120
        var text = ""
        while let line = try child.readLine(seconds: limitSeconds) { text += line + "\n" }
        guard let exit = child.wait(seconds: limitSeconds), exit.isSuccess else {
            throw BenchmarkError("\(executable) failed:\n\(text)")
        }
        return text
    }

    func writeFile(_ name: String, _ text: String) throws -> String {
        let path = "\(folder)/\(name)"
        guard let file = fopen(path, "w") else { throw BenchmarkError("can't write \(path)") }
        defer { fclose(file) }
        let bytes = Array(text.utf8)
        guard fwrite(bytes, 1, bytes.count, file) == bytes.count else {
            throw BenchmarkError("can't write \(path)")
        }
        return path
    }
}
