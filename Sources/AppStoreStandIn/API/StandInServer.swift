package import EventLoop
package import HTTPServer
package import Telemetry

/// The stand-in App Store on a port of this machine. It never listens to others.
///
/// What it can be asked and told is in `docs/stand-in.md`.
package final class StandInServer: Sendable {
    package let api: StandInAPI
    private let server: HTTPServer
    private let sender: NotificationSender

    /// A receipt may have 2 MiB, and JSON may escape it.
    private static let bodyBytesMax = 4 << 20
    /// Longer than the longest delay that can be asked for.
    private static let handlerSeconds = 90.0

    package init(store: StandInStore, port: UInt16, loop: EventLoop, log: Log) {
        let api = StandInAPI(store: store, sleep: { await loop.sleep(milliseconds: $0) })
        var limits = HTTPLimits()
        limits.bodyBytesMax = StandInServer.bodyBytesMax
        limits.handlerSeconds = StandInServer.handlerSeconds
        self.api = api
        sender = NotificationSender(store.notifications, loop: loop, now: store.now)
        server = HTTPServer(
            configuration: HTTPServerConfiguration(
                address: "127.0.0.1", port: port, limits: limits),
            loop: loop, log: log, handler: { await api.respond(to: $0) })
    }

    /// Listens, and answers as soon as the loop turns. On the loop's thread or before it runs.
    package func start() throws(HTTPServerError) {
        try server.start()
        sender.start()
    }

    /// The actual port once `start` has returned.
    package var port: UInt16 { server.port }

    /// Finishes what was begun, for so long, and closes.
    package func drain(milliseconds: Int64) async {
        sender.stop()
        await server.drain(milliseconds: milliseconds)
    }
}
