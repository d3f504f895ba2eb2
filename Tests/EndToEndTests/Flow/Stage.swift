import AppStoreStandIn
import Base
import CoinLedger
import PrivatePostgres
import TestSupport
import Testing

/// One service that may be killed and started again, on which rows of the flow's table are played.
final class Stage {
    let world: World
    let delivery: Delivery
    private var service: ServiceProcess

    init(_ world: World, _ delivery: Delivery) throws {
        self.world = world
        self.delivery = delivery
        service = try world.startService()
    }

    deinit { service.kill() }

    // MARK: The service

    var port: UInt16 { service.port }

    func ask(_ question: HTTPQuestion) throws -> HTTPAnswer {
        try world.ask(question, port: port)
    }

    /// Ends the service as a power cut would.
    func kill() { service.kill() }

    func start() throws { service = try world.startService() }

    /// Ends the service, and starts one that sells something else from now on.
    func restart(catalogue: String) throws {
        stop()
        try write(catalogue, to: world.folder.path + "/catalogue.json")
        try start()
    }

    func stop() { #expect(service.stop() == .code(0)) }

    func app(of account: String, device: String) -> ViewerApp {
        ViewerApp(account: account, device: device, shop: world.shop) { [self] receipt, account in
            try ask(world.posting(receipt, to: account))
        }
    }

    func balance(of account: String) throws -> JSON {
        try ask(
            HTTPQuestion(
                "GET", "/v1/accounts/\(account)/balance",
                headers: [("Authorization", "Bearer \(world.ledger.keys.reader)")])
        ).json
    }

    // MARK: Notifications

    /// Posts a notification as the store does.
    func post(notification signedPayload: String) throws -> HTTPAnswer {
        try ask(Stage.notifying(signedPayload))
    }

    static func notifying(_ signedPayload: String) -> HTTPQuestion {
        let body: JSON = ["signedPayload": .string(signedPayload)]
        return HTTPQuestion(
            "POST", "/v1/app-store/notifications",
            headers: [("Content-Type", "application/json")], body: body.bytes)
    }

    /// Posts them, each answered 200, and waits until all have had their effect.
    func deliver(_ payloads: [String]) throws {
        for payload in payloads { #expect(try post(notification: payload).status == 200) }
        for payload in payloads { try wait(for: payload, toBe: "done") }
    }

    /// Posts them on connections of their own while `body` runs.
    func whileDelivering(_ payloads: [String], _ body: () throws -> Void) throws {
        let connections = try payloads.map { payload in
            let connection = try HTTPConnection(port: port)
            try connection.send(Stage.notifying(payload).bytes)
            return connection
        }
        try body()
        for connection in connections { #expect(try connection.answer().status == 200) }
        for payload in payloads { try wait(for: payload, toBe: "done") }
    }

    /// Waits until a notification is `done` or whatever else it has to be.
    func wait(for signedPayload: String, toBe state: String) throws {
        let uuid = try #require(Stage.uuid(signedPayload))
        let isSo = try eventually {
            try notification(uuid).json["state"]?.string == state ? true : nil
        }
        let text = try notification(uuid).text
        #expect(isSo == true, "\(text)")
    }

    /// The support desk has another try made.
    func retry(_ signedPayload: String) throws {
        let uuid = try #require(Stage.uuid(signedPayload))
        let answer = try ask(
            HTTPQuestion(
                "POST", "/v1/app-store/notifications/\(uuid)/retry",
                headers: [("Authorization", "Bearer \(world.ledger.keys.support)")]))
        #expect(answer.status == 202, "\(answer.text)")
    }

    func notification(_ uuid: String) throws -> HTTPAnswer {
        try ask(
            HTTPQuestion(
                "GET", "/v1/app-store/notifications/\(uuid)",
                headers: [("Authorization", "Bearer \(world.ledger.keys.support)")]))
    }

    /// The notification's UUID, read out of what was signed.
    static func uuid(_ signedPayload: String) -> String? {
        let segments = signedPayload.split(separator: ".")
        guard segments.count == 3, let bytes = Base64.decode(String(segments[1]), .url) else {
            return nil
        }
        return (try? JSON.parse(bytes))?["notificationUUID"]?.string
    }

    // MARK: Accidents

    /// Calls `body` while no lane can be appended to, once the service waits for that with `post`
    /// under way, and lets go. `post` gets no answer.
    func whileLanesAreLocked(posting question: HTTPQuestion, _ body: () throws -> Void) throws {
        let holder = try BlockingSession(world.ledger.adminURL)
        try holder.run("BEGIN")
        try holder.run("SELECT FROM coinledger.lanes FOR UPDATE")
        let connection = try HTTPConnection(port: port)
        try connection.send(question.bytes)
        let isWaiting = try eventually {
            try world.ledger.count(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                    + "AND wait_event_type = 'Lock'") > 0 ? true : nil
        }
        #expect(isWaiting == true)
        try body()
        try holder.run("ROLLBACK")
        #expect((try? connection.answer()) == nil)
    }

    /// Calls `body` while there is no service. The store sends what it has to say to where it was,
    /// on a clock that makes days of nothing.
    func whileDown(_ body: () throws -> Void) throws {
        let notifications = world.shop.store.notifications
        notifications.setTarget("http://127.0.0.1:\(port)/v1/app-store/notifications")
        notifications.setClockRate(100_000_000)
        kill()
        try body()
        notifications.setTarget(nil)
        notifications.setClockRate(1)
        try start()
    }

    /// Asks the store for what it couldn't deliver.
    func catchUp(since milliseconds: Int64) throws {
        let since = try #require(Timestamp(milliseconds: milliseconds))
        let run = try world.appStore(["catch-up", "--since", since.description])
        #expect(run.exit == .code(0), "\(run.output)")
    }

    /// Calls `body` while the database takes no writes.
    func whileReadOnly(_ body: () throws -> Void) throws {
        try world.ledger.setReadOnly(true)
        try body()
        try world.ledger.setReadOnly(false)
        let isReady = try eventually {
            try ask(HTTPQuestion("GET", "/readyz")).status == 200 ? true : nil
        }
        #expect(isReady == true)
    }
}
