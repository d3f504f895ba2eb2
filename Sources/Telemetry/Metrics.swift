import Base

/// The counters, gauges and histograms of a process, and their Prometheus text (format 0.0.4).
package final class Metrics: Sendable {
    private let families = Lock<[any MetricFamily]>([])

    package init() {}

    // What is registered under a name once more is the same family: several parts of a process
    // count into one.

    package func counter(_ name: String, help: String, labels: [String] = []) -> Counter {
        register(Counter(name: name, help: help, labels: labels))
    }

    package func gauge(_ name: String, help: String, labels: [String] = []) -> Gauge {
        register(Gauge(name: name, help: help, labels: labels))
    }

    /// - Parameter bounds: upper bounds of the buckets, ascending, without the infinite one.
    package func histogram(
        _ name: String, help: String, labels: [String] = [], bounds: [Double]
    ) -> Histogram {
        register(Histogram(name: name, help: help, labels: labels, bounds: bounds))
    }

    /// Everything registered, in the order it was registered.
    package func prometheusText() -> String {
        var text = ""
        for family in families.withLock({ $0 }) { family.write(to: &text) }
        return text
    }

    private func register<Family: MetricFamily>(_ family: Family) -> Family {
        families.withLock { families in
            guard let known = families.first(where: { $0.name == family.name }) else {
                families.append(family)
                return family
            }
            guard let known = known as? Family else {
                preconditionFailure("\(family.name) is the name of two kinds of metrics")
            }
            return known
        }
    }
}

protocol MetricFamily: Sendable {
    var name: String { get }
    func write(to text: inout String)
}

/// How many series one family may have; further label values are counted under `other`.
private let seriesMax = 512

/// Name, help and series of one family, whatever it holds for each series.
private struct Series<Value: Sendable>: Sendable {
    let name: String
    let help: String
    let type: String
    let labels: [String]
    private let initial: Value
    private let values: Lock<[[String]: Lock<Value>]>

    init(_ name: String, _ help: String, _ type: String, _ labels: [String], initial: Value) {
        (self.name, self.help, self.type, self.labels) = (name, help, type, labels)
        self.initial = initial
        // A family without labels shows its zero before anything has happened.
        values = Lock(labels.isEmpty ? [[]: Lock(initial)] : [:])
    }

    /// The value of one series. Whoever counts often keeps it, since looking for it costs more.
    func value(_ key: [String]) -> Lock<Value> {
        precondition(key.count == labels.count, "\(name) takes \(labels.count) label values")
        return values.withLock { values in
            let isKnown = values[key] != nil || values.count < seriesMax
            let key = isKnown ? key : labels.map { _ in "other" }
            if let value = values[key] { return value }
            let value = Lock(initial)
            values[key] = value
            return value
        }
    }

    func write(to text: inout String, _ line: (_ labels: String, Value, inout String) -> Void) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
        let sorted = values.withLock { $0 }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        for (key, value) in sorted {
            let pairs = zip(labels, key).map { "\($0)=\"\(escaped($1))\"" }
            line(pairs.joined(separator: ","), value.withLock { $0 }, &text)
        }
    }

    private func escaped(_ value: String) -> String {
        var text = ""
        for character in value.unicodeScalars {
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }
}

private func braced(_ labels: String) -> String { labels.isEmpty ? "" : "{\(labels)}" }

/// A number that only grows.
package final class Counter: MetricFamily {
    private let series: Series<Int>
    var name: String { series.name }

    fileprivate init(name: String, help: String, labels: [String]) {
        series = Series(name, help, "counter", labels, initial: 0)
    }

    package func increment(_ labels: String..., by amount: Int = 1) {
        series.value(labels).withLock { $0 += amount }
    }

    /// One series, for those who count often.
    package struct Cell: Sendable {
        fileprivate let value: Lock<Int>

        package func increment() { value.withLock { $0 += 1 } }
    }

    package func cell(_ labels: String...) -> Cell { Cell(value: series.value(labels)) }

    func write(to text: inout String) {
        series.write(to: &text) { $2 += "\(series.name)\(braced($0)) \($1)\n" }
    }
}

/// A number that is now what it's set to.
package final class Gauge: MetricFamily {
    private let series: Series<Int>
    var name: String { series.name }

    fileprivate init(name: String, help: String, labels: [String]) {
        series = Series(name, help, "gauge", labels, initial: 0)
    }

    package func set(_ labels: String..., to value: Int) {
        series.value(labels).withLock { $0 = value }
    }

    func write(to text: inout String) {
        series.write(to: &text) { $2 += "\(series.name)\(braced($0)) \($1)\n" }
    }
}

/// How often observed values fell below each bound.
package final class Histogram: MetricFamily {
    fileprivate struct Distribution: Sendable {
        var counts: [Int]
        var sum = 0.0
    }

    private let series: Series<Distribution>
    private let bounds: [Double]
    var name: String { series.name }

    fileprivate init(name: String, help: String, labels: [String], bounds: [Double]) {
        self.bounds = bounds
        let empty = Distribution(counts: Array(repeating: 0, count: bounds.count + 1))
        series = Series(name, help, "histogram", labels, initial: empty)
    }

    package func observe(_ labels: String..., value: Double) {
        Cell(bounds: bounds, value: series.value(labels)).observe(value)
    }

    /// One series, for those who observe often.
    package struct Cell: Sendable {
        fileprivate let bounds: [Double]
        fileprivate let value: Lock<Distribution>

        package func observe(_ value: Double) {
            let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
            self.value.withLock {
                $0.counts[bucket] += 1
                $0.sum += value
            }
        }
    }

    package func cell(_ labels: String...) -> Cell {
        Cell(bounds: bounds, value: series.value(labels))
    }

    func write(to text: inout String) {
        let limits = bounds.map { "\($0)" } + ["+Inf"]
        series.write(to: &text) { labels, distribution, text in
            let prefix = labels.isEmpty ? "" : labels + ","
            var total = 0
            for (limit, count) in zip(limits, distribution.counts) {
                total += count
                text += "\(series.name)_bucket{\(prefix)le=\"\(limit)\"} \(total)\n"
            }
            text += "\(series.name)_sum\(braced(labels)) \(distribution.sum)\n"
            text += "\(series.name)_count\(braced(labels)) \(total)\n"
        }
    }
}

extension Histogram {
    /// From 50 µs to 10 s.
    package static let latencySeconds = [
        0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
        1, 2.5, 5, 10,
    ]
}
