import Base
import Glibc

/// One measured value.
struct Figure: Sendable {
    let name: String
    let value: Double
    let unit: String

    init(_ name: String, _ value: Double, _ unit: String) {
        self.name = name
        self.value = value
        self.unit = unit
    }
}

/// All figures of a run: their medians, and what they are to each other.
struct Report {
    private let output: String
    private var order: [String] = []
    private var values: [String: (unit: String, rounds: [Double])] = [:]
    private var lines: [[UInt8]] = []

    /// What is compared with what, and what it must reach.
    private static let ratios: [(name: String, ours: String, peer: String, goal: String)] = [
        ("append, uniform ÷ bare inserts", "append.uniform", "bare.insert", "≥ 0.45"),
        ("append, one account ÷ uniform", "append.hot", "append.uniform", "≥ 1"),
        ("purchases over HTTP ÷ pgbench inserts", "http.purchases", "pgbench.insert64", "≥ 0.5"),
        ("spends over HTTP ÷ pgbench inserts", "http.spends.uniform", "pgbench.insert64", "≥ 1.5"),
        ("spends of one account ÷ uniform", "http.spends.hot", "http.spends.uniform", "≥ 1"),
        ("spend, 10,000 lots ÷ fresh account", "spend.10k_lots", "spend.fresh", "≤ 3"),
        ("spend, 1,000,000 events ÷ fresh account", "spend.1m_events", "spend.fresh", "≤ 3"),
        ("past, 1,000,000 events later ÷ at once", "past.1m_events", "past.fresh", "about 1"),
        ("balances over HTTP ÷ pgbench selects", "http.balances", "pgbench.select8", "≥ 0.6"),
        ("lone purchase p50 ÷ pgbench insert", "http.lone.p50", "pgbench.insert1.latency", "≤ 3"),
        ("verification, cached ÷ openssl", "verify.cached", "openssl.verify", ""),
    ]

    init(output: String) { self.output = output }

    mutating func add(_ figure: Figure, measurement: String, round: Int) {
        if values[figure.name] == nil { order.append(figure.name) }
        values[figure.name, default: (figure.unit, [])].rounds.append(figure.value)
        let line: JSON = [
            "round": .integer(Int64(round)), "measurement": .string(measurement),
            "name": .string(figure.name), "value": .decimal("\(figure.value)"),
            "unit": .string(figure.unit),
        ]
        lines.append(line.bytes)
    }

    func write() throws {
        guard let file = fopen(output, "w") else { throw BenchmarkError("can't write \(output)") }
        defer { fclose(file) }
        for line in lines {
            fwrite(line, 1, line.count, file)
            fputs("\n", file)
        }
    }

    var table: String {
        var text =
            "\n| figure | median | least | most | unit |\n| --- | ---: | ---: | ---: | --- |\n"
        for name in order {
            guard let (unit, rounds) = values[name] else { continue }
            let numbers = [median(rounds), rounds.min() ?? 0, rounds.max() ?? 0].map(rounded)
            text += "| \(name) | \(numbers.joined(separator: " | ")) | \(unit) |\n"
        }
        text += "\n| ratio, medians of the rounds' own | value | must be |\n| --- | ---: | --- |\n"
        for ratio in Report.ratios {
            guard let ours = values[ratio.ours]?.rounds, let peer = values[ratio.peer]?.rounds
            else {
                continue
            }
            // The machine's speed drifts; only figures of one round are compared.
            let quotients = zip(ours, peer).map { $0 / $1 }
            text += "| \(ratio.name) | \(rounded(median(quotients))) | \(ratio.goal) |\n"
        }
        return text
    }

    private func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        guard let last = sorted.indices.last else { return 0 }
        return (sorted[last / 2] + sorted[(last + 1) / 2]) / 2
    }

    private func rounded(_ value: Double) -> String {
        if value >= 100 { return "\(Int64(value.rounded()))" }
        return "\((value * 100).rounded() / 100)"
    }
}

/// Why a measurement couldn't be made.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
