import EventLoop
import Glibc
import PrivatePostgres

/// Runs every measurement in rounds, ours and its peer one after the other, and reports medians.
enum Benchmark {
    static let usage = """
        coinledger-bench [--rounds N] [--seconds N] [--only TEXT[,TEXT…]] [--output FILE]

        Measures the append path, purchases and balances over HTTP and the verification of
        signatures beside bare PostgreSQL and OpenSSL, on a private PostgreSQL with durable
        settings. Prints a table of medians, and writes a line of JSON for each figure of each
        round to FILE (default bench-results.jsonl).

        """

    static func main(_ arguments: [String]) -> Int32 {
        guard let options = BenchmarkOptions(arguments) else {
            Terminal.error(usage)
            return 64
        }
        do {
            try run(options)
            return 0
        } catch {
            Terminal.error("coinledger-bench: \(error)\n")
            return 1
        }
    }

    private static func run(_ options: BenchmarkOptions) throws {
        let bench = try Workbench(options)
        defer { bench.tearDown() }
        Terminal.print(bench.conditions)
        var report = Report(output: options.output)
        let measurements = try Measurement.all(bench).filter { measurement in
            options.only.isEmpty || options.only.contains { measurement.name.contains($0) }
        }
        for round in 1...options.rounds {
            try bench.recycleLogSegments()
            for measurement in measurements {
                Terminal.print("round \(round)/\(options.rounds): \(measurement.name) …\n")
                for figure in try measurement.run() {
                    report.add(figure, measurement: measurement.name, round: round)
                }
            }
        }
        try report.write()
        Terminal.print(report.table)
    }
}

/// What the command line says.
struct BenchmarkOptions {
    var rounds = 3
    var seconds = 5
    /// Parts of the names of what is to be measured; none for everything.
    var only: [String] = []
    var output = "bench-results.jsonl"

    init?(_ arguments: [String]) {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            guard let value = rest.popFirst() else { return nil }
            switch name {
            case "--rounds": rounds = Int(value) ?? 0
            case "--seconds": seconds = Int(value) ?? 0
            case "--only": only = value.split(separator: ",").map(String.init)
            case "--output": output = value
            default: return nil
            }
        }
        guard (1...100).contains(rounds), (1...600).contains(seconds) else { return nil }
    }
}

/// Writes to the terminal at once.
enum Terminal {
    static func print(_ text: String) { write(text, STDOUT_FILENO) }
    static func error(_ text: String) { write(text, STDERR_FILENO) }

    private static func write(_ text: String, _ descriptor: Int32) {
        let bytes = Array(text.utf8)
        _ = Glibc.write(descriptor, bytes, bytes.count)
    }
}
