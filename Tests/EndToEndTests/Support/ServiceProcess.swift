import Base
import Glibc
import PrivatePostgres
import TestSupport

/// A running `coinledger serve`.
final class ServiceProcess: Sendable {
    struct NotStarted: Error, CustomStringConvertible {
        let description: String
    }

    let port: UInt16
    let process: ChildProcess
    private let log: String

    static let startSecondsMax = 30.0
    /// What SIGTERM promises.
    static let stopSecondsMax = 10.0

    private init(_ process: ChildProcess, _ port: UInt16, _ log: String) {
        (self.process, self.port, self.log) = (process, port, log)
    }

    /// Starts it on a free port and waits until it says that it listens.
    ///
    /// - Parameter log: a file that doesn't exist yet.
    static func start(
        _ options: [String], environment: [String: String], log: String
    ) throws -> ServiceProcess {
        let process = try Program.start(
            ["serve", "--listen", "127.0.0.1:0"] + options, environment: environment, log: log)
        let port = eventually(seconds: startSecondsMax) { () -> UInt16?? in
            if let port = listeningPort(contents(log)) { return port }
            return process.wait(seconds: 0) == nil ? nil : .some(nil)
        }
        guard let port = port ?? nil else {
            process.kill()
            throw NotStarted(description: "the service didn't start: \(contents(log))")
        }
        return ServiceProcess(process, port, log)
    }

    /// The most memory it has held at any time.
    var memoryBytesMax: Int {
        let line = contents("/proc/\(process.processID)/status").split(separator: "\n")
            .first { $0.hasPrefix("VmHWM:") }
        return (line?.split(separator: " ").dropFirst().first).flatMap { Int($0) }.map { $0 << 10 }
            ?? .max
    }

    /// The files that are part of its memory, such as libraries.
    var mappedFiles: String { contents("/proc/\(process.processID)/maps") }

    private static func listeningPort(_ log: String) -> UInt16? {
        guard let line = log.split(separator: "\n").first(where: { $0.contains("listening url=") }),
            log.contains("\n"), let colon = line.lastIndex(of: ":")
        else { return nil }
        return UInt16(line[line.index(after: colon)...])
    }

    var isRunning: Bool { process.wait(seconds: 0) == nil }
    var output: String { contents(log) }

    /// SIGKILL, and waits until it's gone.
    func kill() {
        process.kill()
        _ = process.wait(seconds: ServiceProcess.stopSecondsMax)
    }

    /// SIGTERM, and waits as long as a stop may take; nil if it takes longer.
    func stop() -> ChildProcess.Exit? {
        process.terminate()
        return process.wait(seconds: ServiceProcess.stopSecondsMax)
    }
}
