import Glibc

/// What `/proc` tells about running servers.
enum ServerProcesses {
    /// Whether the process exists and isn't just waiting to be reaped.
    static func isAlive(_ process: pid_t) -> Bool {
        guard let state = status(process)?.state else { return false }
        return state != "Z" && state != "X"
    }

    /// The processes whose parent is `process`.
    static func children(of process: pid_t) -> [pid_t] {
        Files.names(in: "/proc").compactMap { pid_t($0) }.filter { status($0)?.parent == process }
    }

    /// The live postmaster that uses `dataFolder` according to its `postmaster.pid`.
    ///
    /// After a `kill -9` the file stays, and its number may be another process's by now: a
    /// postmaster is known by its working directory, which is its data folder.
    static func postmaster(of dataFolder: String) -> pid_t? {
        guard let process = recordedPostmaster(of: dataFolder), isAlive(process) else { return nil }
        var directory = stat()
        var data = stat()
        guard unsafe stat("/proc/\(process)/cwd", &directory) == 0,
            unsafe stat(dataFolder, &data) == 0,
            directory.st_dev == data.st_dev, directory.st_ino == data.st_ino
        else { return nil }
        return process
    }

    /// Whether the server of this process id has written that it accepts connections.
    static func isReady(_ process: pid_t, dataFolder: String) -> Bool {
        // Line 1 is the process id, line 8 the state; pg_ctl relies on the same two.
        guard let lines = pidFileLines(of: dataFolder), lines.count >= 8 else { return false }
        return pid_t(lines[0]) == process && lines[7].hasPrefix("ready")
    }

    static func recordedPostmaster(of dataFolder: String) -> pid_t? {
        guard let first = pidFileLines(of: dataFolder)?.first, let process = pid_t(first),
            process > 0
        else { return nil }
        return process
    }

    private static func pidFileLines(of dataFolder: String) -> [Substring]? {
        Files.text(dataFolder + "/postmaster.pid")?
            .split(separator: "\n", omittingEmptySubsequences: false)
    }

    private static func status(_ process: pid_t) -> (state: Substring, parent: pid_t)? {
        // The name in brackets may hold anything, so count from its end.
        guard let text = Files.text("/proc/\(process)/stat", bytesMax: 1024),
            let nameEnd = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[text.index(after: nameEnd)...].split(separator: " ")
        guard fields.count >= 2, let parent = pid_t(fields[1]) else { return nil }
        return (fields[0], parent)
    }
}
