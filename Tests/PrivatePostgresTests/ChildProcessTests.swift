import Glibc
import PrivatePostgres
import TestSupport
import Testing

@Suite struct `A child process` {
    @Test func `ends with its code`() throws {
        let child = try ChildProcess.start("/bin/sh", ["-c", "exit 7"])
        #expect(child.wait(seconds: 10) == .code(7))
        #expect(child.wait(seconds: 10) == .code(7))
    }

    @Test func `ends by a signal`() throws {
        let child = try ChildProcess.start("/bin/sleep", ["60"])
        #expect(child.wait(seconds: 0) == nil)
        child.terminate()
        #expect(child.wait(seconds: 10) == .signal(SIGTERM))
    }

    @Test func `is killed with its whole group`() throws {
        let child = try ChildProcess.start(
            "/bin/sh", ["-c", "sleep 60 & echo $!; wait"], output: .pipe)
        let line = try #require(try child.readLine(seconds: 10))
        #expect(Int32(line) != nil)
        child.kill()
        #expect(child.wait(seconds: 10) == .signal(SIGKILL))
        // The grandchild held the pipe open; its end is the end of the output.
        #expect(try child.readLine(seconds: 10) == nil)
    }

    @Test func `is read line by line`() throws {
        let child = try ChildProcess.start(
            "/bin/sh", ["-c", "printf 'one\\n\\ntwo\\nrest'"], output: .pipe)
        #expect(try child.readLine(seconds: 10) == "one")
        #expect(try child.readLine(seconds: 10) == "")
        #expect(try child.readLine(seconds: 10) == "two")
        #expect(try child.readLine(seconds: 10) == "rest")
        #expect(try child.readLine(seconds: 10) == nil)
    }

    @Test func `has the environment and folder it was given`() throws {
        let child = try ChildProcess.start(
            "/bin/sh", ["-c", "echo $COLOUR; pwd; echo done >&2"], environment: ["COLOUR": "green"],
            workingDirectory: "/usr", output: .pipe, mergesErrors: true)
        #expect(try child.readLine(seconds: 10) == "green")
        #expect(try child.readLine(seconds: 10) == "/usr")
        #expect(try child.readLine(seconds: 10) == "done")
    }

    @Test func `has no descriptor but the three`() throws {
        let descriptor = open("/dev/null", O_RDONLY)
        defer { close(descriptor) }
        let child = try ChildProcess.start(
            "/bin/sh", ["-c", "test -e /proc/$$/fd/\(descriptor)"])
        #expect(child.wait(seconds: 10) == .code(1))
    }

    @Test func `writes to a file`() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path + "/out"
        for word in ["one", "two"] {
            let child = try ChildProcess.start("/bin/echo", [word], output: .file(path))
            #expect(child.wait(seconds: 10) == .code(0))
        }
        let reader = try ChildProcess.start("/bin/cat", [path], output: .pipe)
        #expect(try reader.readLine(seconds: 10) == "one")
        #expect(try reader.readLine(seconds: 10) == "two")
    }

    @Test func `that does not exist is an error`() {
        #expect(throws: ChildProcessError.self) { try ChildProcess.start("/no/such/program") }
    }

    @Test func `that says nothing is not waited for beyond the limit`() throws {
        let child = try ChildProcess.start("/bin/sleep", ["60"], output: .pipe)
        defer { child.kill() }
        #expect(throws: ChildProcessError.timeout) { try child.readLine(seconds: 0.01) }
    }

    @Test func `that says a line too long is an error`() throws {
        let child = try ChildProcess.start(
            "/bin/sh", ["-c", "head -c 200000 /dev/zero"], output: .pipe)
        defer { child.kill() }
        #expect(throws: ChildProcessError.lineTooLong) { try child.readLine(seconds: 10) }
    }
}
