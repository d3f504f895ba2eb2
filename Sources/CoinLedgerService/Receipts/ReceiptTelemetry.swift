package import Telemetry

/// What is measured of receipts.
package struct ReceiptTelemetry: Sendable {
    let outcomes: Counter
    let futurePurchases: Counter
    let verificationSeconds: Histogram
    let untrusted: Counter
    let askedAfterAll: Counter

    package init(_ metrics: Metrics) {
        outcomes = metrics.counter(
            "coinledger_receipt_outcomes_total",
            help:
                "Purchases in posted receipts by outcome. Many already_granted: a client posts twice.",
            labels: ["outcome"])
        futurePurchases = metrics.counter(
            "coinledger_future_purchases_total",
            help: "Purchases dated after the service's own clock.")
        verificationSeconds = metrics.histogram(
            "coinledger_verification_seconds",
            help: "Time to verify a receipt, waiting included.", labels: ["kind"],
            bounds: Histogram.latencySeconds)
        untrusted = metrics.counter(
            "coinledger_untrusted_receipts_total", help: "Receipts that nothing was taken from.",
            labels: ["code"])
        askedAfterAll = metrics.counter(
            "coinledger_receipts_asked_after_all_total",
            help: "App receipts that the store was asked about since they weren't known here.",
            labels: ["code"])
    }
}
