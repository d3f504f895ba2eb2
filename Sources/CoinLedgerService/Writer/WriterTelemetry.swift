import CoinLedger
package import Telemetry

/// What the writers of a process measure.
package struct WriterTelemetry: Sendable {
    private let batchSize: Histogram.Cell
    private let commitSeconds: Histogram.Cell
    private let queueDepth: Gauge
    let conflicts: Counter
    let overloads: Counter
    let unknownResults: Counter

    package init(_ metrics: Metrics) {
        batchSize = metrics.histogram(
            "coinledger_writer_batch_commands", help: "Commands in a batch.",
            bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256]
        ).cell()
        commitSeconds = metrics.histogram(
            "coinledger_writer_commit_seconds", help: "Time to append and commit a batch.",
            bounds: Histogram.latencySeconds
        ).cell()
        queueDepth = metrics.gauge(
            "coinledger_writer_queue_commands", help: "Commands waiting for their batch.",
            labels: ["lane"])
        conflicts = metrics.counter(
            "coinledger_writer_conflicts_total",
            help: "Batches decided again because something else was written meanwhile.")
        overloads = metrics.counter(
            "coinledger_writer_overloads_total", help: "Submissions refused by a full queue.")
        unknownResults = metrics.counter(
            "coinledger_writer_unknown_results_total",
            help: "Commits whose answer was lost, so that their fate had to be looked up.")
    }

    func took(_ count: Int, leaving waiting: Int, lane: Lane) {
        batchSize.observe(Double(count))
        queueDepth.set("\(lane.number)", to: waiting)
    }

    func begin() -> ContinuousClock.Instant { ContinuousClock.now }

    func committed(since start: ContinuousClock.Instant) {
        commitSeconds.observe((ContinuousClock.now - start) / .seconds(1))
    }
}
