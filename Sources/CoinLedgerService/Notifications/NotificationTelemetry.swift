package import Telemetry

/// What is measured of the store's notifications.
package struct NotificationTelemetry: Sendable {
    let received: Counter
    let outcomes: Counter
    let retries: Counter
    let seconds: Histogram

    package init(_ metrics: Metrics) {
        received = metrics.counter(
            "coinledger_notifications_received_total",
            help:
                "Notifications by how they were answered: accepted, duplicate, ignored, or why not.",
            labels: ["answer"])
        outcomes = metrics.counter(
            "coinledger_notification_outcomes_total",
            help: "What has become of notifications.", labels: ["type", "state", "outcome"])
        retries = metrics.counter(
            "coinledger_notification_retries_total",
            help: "Notifications that were put off, by what they wait for.", labels: ["reason"])
        seconds = metrics.histogram(
            "coinledger_notification_seconds",
            help: "From a notification's receipt until what it says was done.", labels: [],
            bounds: Histogram.latencySeconds)
    }
}
