import Glibc
import PrivatePostgres
import TestSupport

/// The program under test: the `coinledger` that was built beside these tests.
enum Program {
    /// What a finished run said and how it ended.
    struct Run {
        let exit: ChildProcess.Exit?
        let output: String
    }

    static let runSecondsMax = 60.0

    static let path: String = {
        var folder = (try? selfPath()) ?? ""
        while let slash = folder.lastIndex(of: "/") {
            folder = String(folder[..<slash])
            let candidate = folder + "/coinledger"
            if access(candidate, X_OK) == 0 { return candidate }
        }
        preconditionFailure("build the program first: swift build --product coinledger")
    }()

    /// Runs a command to its end; its output and errors come together.
    static func run(
        _ arguments: [String], environment: [String: String] = [:]
    ) throws -> Run {
        let child = try ChildProcess.start(
            path, arguments, environment: self.environment(adding: environment), output: .pipe,
            mergesErrors: true)
        var output = ""
        while let line = try child.readLine(seconds: runSecondsMax) { output += line + "\n" }
        return Run(exit: child.wait(seconds: runSecondsMax), output: output)
    }

    /// Starts a command that goes on, with its output in a file. The kernel ends it when this
    /// process dies.
    static func start(
        _ arguments: [String], environment: [String: String] = [:], log: String
    ) throws -> ChildProcess {
        try ChildProcess.start(
            "/usr/bin/setpriv", ["--pdeathsig", "KILL", "--", path] + arguments,
            environment: self.environment(adding: environment), output: .file(log),
            mergesErrors: true)
    }

    /// This process's environment without settings of the program, and with `more`.
    static func environment(adding more: [String: String]) -> [String: String] {
        var variables: [String: String] = [:]
        for name in ["PATH", "HOME", "LD_LIBRARY_PATH", "TMPDIR"] {
            if let value = getenv(name) { variables[name] = String(cString: value) }
        }
        return variables.merging(more) { $1 }
    }

    private static func selfPath() throws -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { throw SystemError.last }
        return String(
            decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// The whole text of a file; empty if there is none.
func contents(_ path: String) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
        bytes += buffer[..<count]
    }
}

func write(_ text: String, to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw SystemError.last }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
        throw SystemError.last
    }
}

/// Asks again and again until there is a value; nil if there is none after `seconds`.
func eventually<Value>(seconds: Double = 30, _ ask: () throws -> Value?) rethrows -> Value? {
    let deadline = monotonicSeconds() + seconds
    while true {
        if let value = try ask() { return value }
        if monotonicSeconds() > deadline { return nil }
        usleep(5000)
    }
}

func sleepMilliseconds(_ milliseconds: UInt32) { usleep(milliseconds * 1000) }

/// Seconds of a clock that never goes back.
func monotonicSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
