import Base
import CoinLedgerAPI
import Telemetry

/// Counts answered requests by route and status.
final class RequestTelemetry: Sendable {
    private let requests: Counter
    private let seconds: Histogram
    /// What has been looked for before: a few dozen pairs at most.
    private let known = Lock<[Key: (requests: Counter.Cell, seconds: Histogram.Cell)]>([:])

    private struct Key: Hashable {
        let route: Route?
        let status: Int
    }

    init(_ metrics: Metrics) {
        requests = metrics.counter(
            "coinledger_http_requests_total", help: "Answered requests by route and status.",
            labels: ["route", "status"])
        seconds = metrics.histogram(
            "coinledger_http_request_seconds", help: "Time from a whole request to its answer.",
            labels: ["route"], bounds: Histogram.latencySeconds)
    }

    /// - Parameter route: nil for requests to no route.
    func answered(_ route: Route?, _ status: Int, _ duration: Double) {
        let cells = known.withLock { known in
            let key = Key(route: route, status: status)
            if let cells = known[key] { return cells }
            let name = route?.template ?? "other"
            let cells = (requests.cell(name, "\(status)"), seconds.cell(name))
            known[key] = cells
            return cells
        }
        cells.requests.increment()
        cells.seconds.observe(duration)
    }
}
