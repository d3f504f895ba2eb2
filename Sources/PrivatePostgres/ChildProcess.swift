import Base
import CLinux
import Glibc

/// A process that was started from here.
///
/// Calls block and may be made on any thread. A thread per child starts it and waits for its end,
/// so that a signal the child asks for at its parent's death (`PR_SET_PDEATHSIG`, which is tied
/// to the thread) comes when this process dies and not before. The child isn't ended when the
/// last reference goes.
package final class ChildProcess: Sendable {
    /// Where the child's standard output and errors go.
    package enum Output: Sendable {
        case inherited
        case discarded
        /// Appended to the file of this path, which is made if there is none.
        case file(String)
        /// Standard output is read with `readLine`; a child nobody reads from stands still at last.
        case pipe
    }

    /// How a process ended.
    package enum Exit: Hashable, Sendable {
        case code(Int32)
        case signal(Int32)

        package var isSuccess: Bool { self == .code(0) }
    }

    package let processID: Int32
    private let lines: LineReader?
    private let exit: ExitState

    private init(processID: pid_t, lines: LineReader?, exit: ExitState) {
        (self.processID, self.lines, self.exit) = (processID, lines, exit)
    }

    /// Starts `executable`, a path, in a process group of its own.
    ///
    /// - Parameters:
    ///   - environment: the child's whole environment; nil gives it this process's.
    ///   - mergesErrors: whether standard error goes where `output` goes, else it's inherited.
    package static func start(
        _ executable: String, _ arguments: [String] = [], environment: [String: String]? = nil,
        workingDirectory: String? = nil, output: Output = .inherited, mergesErrors: Bool = false
    ) throws(ChildProcessError) -> ChildProcess {
        let target = try OutputTarget(output)
        defer { target.closeChildsEnd() }
        // Closes the pipe if the process can't be started.
        let lines = target.readEnd.map(LineReader.init)
        let request = SpawnRequest(
            executable: executable, arguments: arguments, environment: environment,
            workingDirectory: workingDirectory, output: target.childsEnd,
            errors: mergesErrors ? target.childsEnd : nil)
        let exit = ExitState()
        let started = Latch()
        let result = Lock<Result<pid_t, SystemError>?>(nil)
        Thread.start {
            let outcome = request.spawn()
            result.withLock { $0 = outcome }
            started.open()
            if case .success(let process) = outcome { exit.waitForEnd(of: process) }
        }
        _ = started.wait(seconds: nil)
        switch result.withLock({ $0 }) {
        case .success(let process):
            return ChildProcess(processID: process, lines: lines, exit: exit)
        case .failure(let error): throw .system(executable, error)
        case nil: throw .system(executable, SystemError(number: ECHILD))
        }
    }

    /// Sends a signal to the process, unless it has ended.
    package func terminate(_ signal: Int32 = SIGTERM) { exit.send(signal, to: processID) }

    /// Kills the process and its group, unless it has ended.
    package func kill() { exit.send(SIGKILL, to: -processID) }

    /// Waits for the end of the process, `seconds` at most; nil if it goes on. It can be asked
    /// again.
    package func wait(seconds: Double) -> Exit? { exit.wait(seconds: seconds) }

    /// The next line of standard output, without its end; nil when the child has closed it.
    ///
    /// - Throws: `.timeout` after `seconds`, `.lineTooLong` beyond 64 KiB, `.notPiped`.
    package func readLine(seconds: Double) throws(ChildProcessError) -> String? {
        guard let lines else { throw .notPiped }
        return try lines.next(seconds: seconds)
    }
}

/// Why something with a child process failed.
package enum ChildProcessError: Error, Hashable {
    /// The system refused; for what, and why.
    case system(String, SystemError)
    case timeout
    case lineTooLong
    case notPiped
}

/// The end of one process, learned on the thread that started it.
private final class ExitState: Sendable {
    private let exit = Lock<ChildProcess.Exit?>(nil)
    private let ended = Latch()

    func waitForEnd(of process: pid_t) {
        // First without reaping, so that the id can't be given to another process while `send`
        // uses it.
        var information = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0,
            errno == EINTR
        {}
        exit.withLock { exit in
            var status: Int32 = 0
            unsafe waitpid(process, &status, 0)
            let signal = status & 0x7F
            exit = signal == 0 ? .code((status >> 8) & 0xFF) : .signal(signal)
        }
        ended.open()
    }

    func send(_ signal: Int32, to process: pid_t) {
        exit.withLock { if $0 == nil { _ = Glibc.kill(process, signal) } }
    }

    func wait(seconds: Double) -> ChildProcess.Exit? {
        guard ended.wait(seconds: seconds) else { return nil }
        return exit.withLock { $0 }
    }
}

/// The descriptors behind a `ChildProcess.Output`.
private struct OutputTarget {
    var childsEnd: Int32?
    var readEnd: Int32?

    init(_ output: ChildProcess.Output) throws(ChildProcessError) {
        switch output {
        case .inherited: break
        case .discarded: childsEnd = try OutputTarget.open("/dev/null", O_WRONLY)
        case .file(let path):
            childsEnd = try OutputTarget.open(path, O_WRONLY | O_CREAT | O_APPEND)
        case .pipe:
            var ends: [Int32] = [-1, -1]
            guard unsafe pipe2(&ends, O_CLOEXEC) == 0 else { throw .system("pipe", .last) }
            (readEnd, childsEnd) = (ends[0], ends[1])
        }
    }

    func closeChildsEnd() {
        if let childsEnd { close(childsEnd) }
    }

    private static func open(_ path: String, _ flags: Int32) throws(ChildProcessError) -> Int32 {
        let descriptor = unsafe Glibc.open(path, flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system(path, .last) }
        return descriptor
    }
}
