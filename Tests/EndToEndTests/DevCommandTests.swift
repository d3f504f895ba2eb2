import Base
import Glibc
import PrivatePostgres
import TestSupport
import Testing

/// `coinledger dev`, as a newcomer and other programs use it.
@Suite(.timeLimit(.minutes(15))) struct `Running everything for development` {
    private static let startSecondsMax = 60.0

    private struct Running {
        let process: ChildProcess
        let page: JSON
        let log: String

        var url: String { page["url"]?.string ?? "" }
        var port: UInt16 { UInt16(url.split(separator: ":").last ?? "") ?? 0 }
        var key: String { page["apiKeys"]?["backend"]?.string ?? "" }
    }

    private func start(_ folder: TemporaryFolder, _ name: String = "data") throws -> Running {
        let log = "\(folder.path)/\(UInt32.random(in: .min ... .max)).log"
        let process = try Program.start(
            [
                "dev", "--listen", "127.0.0.1:0", "--store-listen", "127.0.0.1:0", "--data",
                "\(folder.path)/\(name)",
            ], log: log)
        let page = eventually(seconds: Self.startSecondsMax) {
            try? JSON.parse(Array(contents("\(folder.path)/\(name)/dev.json").utf8))
        }
        return Running(
            process: process, page: try #require(page, "\(contents(log))"), log: log)
    }

    private func stop(_ running: Running) {
        running.process.terminate(SIGINT)
        #expect(running.process.wait(seconds: 30) == .code(0), "\(contents(running.log))")
    }

    private func balance(_ running: Running, _ account: String = "u1") throws -> HTTPAnswer {
        try HTTPConnection(port: running.port).ask(
            HTTPQuestion(
                "GET", "/v1/accounts/\(account)/balance",
                headers: [("Authorization", "Bearer \(running.key)")]))
    }

    /// The lines of the banner that are to be pasted, run by a shell in `folder`.
    private func paste(_ running: Running, in folder: TemporaryFolder) throws -> [String] {
        let lines = contents(running.log).split(separator: "\n").filter {
            $0.hasPrefix("  curl ") || $0.hasPrefix("  sed ")
        }
        #expect(lines.count == 4)
        return try lines.map { line in
            let shell = try ChildProcess.start(
                "/bin/sh", ["-c", String(line)], workingDirectory: folder.path, output: .pipe)
            let answer = try shell.readLine(seconds: 30) ?? ""
            #expect(shell.wait(seconds: 30) == .code(0))
            return answer
        }
    }

    @Test func `what it says can be pasted, and a second start keeps the ledger`() async throws {
        try await blocking {
            let folder = try TemporaryFolder()
            defer { folder.remove() }
            var running = try start(folder)
            defer { running.process.kill() }
            let names = running.page.object?.members.map(\.name)
            #expect(names == ["url", "storeUrl", "databaseUrl", "apiKeys"])
            #expect(
                running.page["apiKeys"]?.object?.members.map(\.name) == ["backend", "support"])
            var status = stat()
            #expect(stat(folder.path + "/data/dev.json", &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
            let databaseURL = running.page["databaseUrl"]?.string ?? ""
            #expect(
                try BlockingConnection.rows(
                    of: "SELECT count(*) FROM coinledger.api_keys", on: databaseURL) == [["2"]])

            if access("/usr/bin/curl", X_OK) == 0 {
                let answers = try paste(running, in: folder)
                let granted = try JSON.parse(Array(answers[1].utf8))
                #expect(granted["transactions"]?.array?.first?["outcome"] == "granted")
                #expect(try JSON.parse(Array(answers[2].utf8))["total"] == 110)
                let refund = try JSON.parse(Array(answers[3].utf8))
                #expect(refund["signedPayload"]?.string != nil)
                // The store has told the service by itself.
                let paid = try eventually(seconds: 30) {
                    let paid = try balance(running).json["paid"]?.integer
                    return paid == 0 ? paid : nil
                }
                #expect(paid == 0)
            }
            let before = try balance(running)
            stop(running)
            #expect(access(folder.path + "/data/dev.json", F_OK) != 0)

            let oldKey = running.key
            running = try start(folder)
            let after = try balance(running)
            #expect(after.json["version"] == before.json["version"])
            #expect(after.json["total"] == before.json["total"])
            // Keys are those of a run.
            #expect(oldKey != running.key)
            let old = try HTTPConnection(port: running.port).ask(
                HTTPQuestion(
                    "GET", "/v1/accounts/u1/balance",
                    headers: [("Authorization", "Bearer \(oldKey)")]))
            #expect(old.status == 401)
            let demo = try Program.run(["demo", "--data", folder.path + "/data"])
            #expect(demo.exit == .code(0), "\(demo.output)")
            stop(running)
        }
    }

    @Test func `two run side by side, and a folder belongs to one of them`() async throws {
        try await blocking {
            let folder = try TemporaryFolder()
            defer { folder.remove() }
            let first = try start(folder, "first")
            defer { first.process.kill() }
            let second = try start(folder, "second")
            defer { second.process.kill() }
            #expect(first.url != second.url)
            #expect(try balance(first).status == 200)
            #expect(try balance(second).status == 200)
            let third = try Program.run([
                "dev", "--listen", "127.0.0.1:0", "--store-listen", "127.0.0.1:0", "--data",
                folder.path + "/first",
            ])
            #expect(third.exit == .code(1))
            #expect(third.errorLines.count == 1, "\(third.output)")
            // The first one's page is still there.
            #expect(access(folder.path + "/first/dev.json", F_OK) == 0)
            stop(second)
            #expect(try balance(first).status == 200)
            stop(first)
        }
    }

    @Test func `the demo without it says what is missing`() async throws {
        let run = try await blocking { try Program.run(["demo", "--data", "/nowhere"]) }
        #expect(run.exit == .code(64))
        #expect(
            run.output
                == "coinledger demo: there is no /nowhere/dev.json: start coinledger dev first\n")
    }
}
