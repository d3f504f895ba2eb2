import Telemetry
import Testing

@Suite struct `A family of metrics` {
    @Test func `counts in one place what is registered twice`() {
        let metrics = Metrics()
        let counters = (0..<2).map { _ in metrics.counter("a_total", help: "As.") }
        for counter in counters { counter.increment() }
        let text = "# HELP a_total As.\n# TYPE a_total counter\na_total 2\n"
        #expect(metrics.prometheusText() == text)
    }
}
