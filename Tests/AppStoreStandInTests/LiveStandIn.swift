import AppStoreConnection
import AppStoreStandIn
import Base
import EventLoop
import HTTPServer
import Telemetry

/// A stand-in on a port, and a service that its notifications go to, for as long as `body` runs.
func withLiveStandIn(_ body: (LiveStandIn) async throws -> Void) async throws {
    let live = try LiveStandIn()
    do {
        try await body(live)
    } catch {
        await live.stop()
        throw error
    }
    await live.stop()
}

final class LiveStandIn: Sendable {
    let store = makeStore()
    let receiver: Receiver
    private let server: StandInServer
    private let loop = EventLoop()
    private let http = HTTPClient()

    init() throws {
        server = StandInServer(store: store, port: 0, loop: loop, log: .none)
        receiver = Receiver(loop)
        try server.start()
        try receiver.start()
        Base.Thread.start { [loop] in loop.run() }
    }

    var api: StandInAPI { server.api }

    func send(
        _ method: String, _ path: String, _ body: JSON? = nil, token: String? = nil
    ) async throws -> LiveAnswer {
        let request = HTTPClientRequest(
            method: method, url: "http://127.0.0.1:\(server.port)\(path)",
            headers: token.map { [(name: "Authorization", value: "Bearer \($0)")] } ?? [],
            body: body?.bytes ?? [], timeoutMilliseconds: 600_000)
        let response = try await http.send(request)
        return LiveAnswer(status: response.status, json: try? JSON.parse(response.body))
    }

    /// A call of the Server API with a genuine token.
    func call(_ method: String, _ path: String, _ body: JSON? = nil) async throws -> LiveAnswer {
        try await send(method, path, body, token: bearer(store.apiKey))
    }

    /// Whether so many attempts to send notifications have ended, sooner or later.
    func waitForAttempts(_ count: Int) async -> Bool {
        for _ in 0..<1_000_000 {
            let attempts = store.notifications.list().map(\.attempts.count).reduce(0, +)
            if attempts >= count { return true }
            await loop.task {}.value
        }
        return false
    }

    func stop() async {
        await loop.task { [server, receiver, loop] in
            await server.drain(milliseconds: 0)
            await receiver.drain()
            loop.stop()
        }.value
    }
}

struct LiveAnswer: Hashable {
    let status: Int
    let json: JSON?
}

/// A service that takes notifications and answers them as told.
final class Receiver: Sendable {
    private let server: Lock<HTTPServer?>
    private let state: Lock<State>

    private struct State: Sendable {
        var bodies: [JSON] = []
        /// Taken one after the other; 200 when there are no more.
        var statuses: [Int] = []
    }

    init(_ loop: EventLoop) {
        let state = Lock(State())
        self.state = state
        server = Lock(
            HTTPServer(
                configuration: HTTPServerConfiguration(port: 0), loop: loop, log: .none
            ) { request in
                state.withLock { state in
                    state.bodies.append((try? JSON.parse(request.body)) ?? .null)
                    let status = state.statuses.isEmpty ? 200 : state.statuses.removeFirst()
                    return HTTPResponse(status: status)
                }
            })
    }

    func start() throws { try server.withLock { $0 }?.start() }
    func drain() async { await server.withLock { $0 }?.drain(milliseconds: 0) }
    func answer(_ statuses: [Int]) { state.withLock { $0.statuses = statuses } }

    var url: String { "http://127.0.0.1:\(server.withLock { $0?.port ?? 0 })/notifications" }
    var bodies: [JSON] { state.withLock { $0.bodies } }

    /// The payloads of what arrived, unverified.
    var payloads: [JSON] {
        bodies.map { body in body["signedPayload"]?.string.flatMap { jwsPayload($0) } ?? .null }
    }

    var types: [JSON?] { payloads.map { $0["notificationType"] } }
}

/// What a signature in compact form says, unverified.
func jwsPayload(_ text: String) -> JSON? {
    let segments = text.split(separator: ".")
    guard segments.count == 3, let bytes = Base64.decode(String(segments[1]), .url) else {
        return nil
    }
    return try? JSON.parse(bytes)
}

/// A token as Apple's library makes it, but for what `change` says.
func bearer(
    _ key: StandInAPIKey, signedBy signer: SigningKey? = nil,
    _ change: (_ header: inout [String: JSON], _ claims: inout [String: JSON]) -> Void = { _, _ in
    }
) -> String {
    var header: [String: JSON] = ["alg": "ES256", "kid": .string(key.keyID), "typ": "JWT"]
    var claims: [String: JSON] = [
        "iss": .string(key.issuerID), "iat": .integer(noon / 1000),
        "exp": .integer(noon / 1000 + 300), "aud": "appstoreconnect-v1",
        "bid": .string(key.bundleID),
    ]
    change(&header, &claims)
    let input = [header, claims].map { members in
        let object = JSONObject(members.map { .init($0.key, $0.value) })
        return Base64.encode(JSON.object(object).bytes, .url)
    }.joined(separator: ".")
    return input + "." + Base64.encode((signer ?? key.key).sign(Array(input.utf8)), .url)
}
