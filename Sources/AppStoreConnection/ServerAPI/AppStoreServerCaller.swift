import AppStore
import Base

/// Carries out calls: their turn, their token, their attempts, and the bound on their number.
final class AppStoreServerCaller: Sendable {
    private let send: AppStoreServerClient.Send
    private let pool: WorkerPool
    private let configuration: AppStoreServerConfiguration
    private let clock: RetryClock
    private let wallClock: @Sendable () -> Int64
    private let tokens: AppStoreServerTokens
    private let limiter: RateLimiter
    private let inFlight = Lock(0)

    /// The store counts by the hour, so it never has a reason to ask for more.
    private static let blockMillisecondsMax: Int64 = 3_600_000

    init(
        send: @escaping AppStoreServerClient.Send, pool: WorkerPool,
        configuration: AppStoreServerConfiguration, clock: RetryClock,
        wallClock: @escaping @Sendable () -> Int64
    ) {
        self.send = send
        self.pool = pool
        self.configuration = configuration
        self.clock = clock
        self.wallClock = wallClock
        tokens = AppStoreServerTokens(configuration, now: wallClock)
        limiter = RateLimiter(ratePercent: configuration.ratePercent)
    }

    private typealias Read<Value> =
        @Sendable (_ body: [UInt8]) -> Result<Value, AppStoreServerError>

    /// Carries out a call whose answer says nothing but that it was.
    func call(_ request: AppStoreServerRequest) async throws(AppStoreServerError) {
        try await attempts(request) { _ in .success(()) }
    }

    /// Carries out a call and reads its answer.
    func call<Value: Sendable>(
        _ request: AppStoreServerRequest,
        _ read: @escaping @Sendable (AnswerFields) throws(AppStoreServerError) -> Value
    ) async throws(AppStoreServerError) -> Value {
        try await attempts(request) { body in
            do throws(AppStoreServerError) {
                return .success(try read(AnswerFields(body: body)))
            } catch {
                return .failure(error)
            }
        }
    }

    private func attempts<Value: Sendable>(
        _ request: AppStoreServerRequest, _ read: @escaping Read<Value>
    ) async throws(AppStoreServerError) -> Value {
        let url = try url(request)
        guard admit() else { throw .overloaded }
        defer { inFlight.withLock { $0 -= 1 } }
        let deadline = clock.now() + configuration.deadlineMilliseconds
        var attempts = 0
        var last: AppStoreServerError?
        while true {
            try await takeTurn(request, until: deadline, last: last)
            let (token, isNew) = tokens.token()
            let error: AppStoreServerError
            do throws(AppStoreServerError) {
                return try await attempt(request, url, token, until: deadline, read)
            } catch let failure {
                error = failure
            }
            // A wait may have taken longer than it should; what went wrong before it says more.
            if error == .unavailable(.outOfTime), let last { throw last }
            attempts += 1
            note(error, request, token)
            // A token that has been used for a while may have become too old on the way.
            let isWorthAnother = error.isWorthAnotherAttempt || (error == .unauthorized && !isNew)
            guard isWorthAnother, attempts < configuration.attemptsMax else { throw error }
            last = error
            if error != .unauthorized { try await pause(after: attempts, deadline, last: error) }
        }
    }

    private func admit() -> Bool {
        inFlight.withLock { inFlight in
            guard inFlight < configuration.inFlightMax else { return false }
            inFlight += 1
            return true
        }
    }

    private func url(_ request: AppStoreServerRequest) throws(AppStoreServerError) -> String {
        switch request.environment {
        case .production: return configuration.productionURL + request.target
        case .sandbox: return configuration.sandboxURL + request.target
        case .xcode, .localTesting, .other:
            throw .refused(status: 400, code: nil, message: "this environment has no store")
        }
    }

    private func attempt<Value: Sendable>(
        _ request: AppStoreServerRequest, _ url: String, _ token: AppStoreServerTokens.Token,
        until deadline: Int64, _ read: @escaping Read<Value>
    ) async throws(AppStoreServerError) -> Value {
        let left = deadline - clock.now()
        guard left > 0, !Task.isCancelled else { throw .unavailable(.outOfTime) }
        var headers = [
            (name: "Authorization", value: "Bearer \(token.text)"),
            (name: "Accept", value: "application/json"),
        ]
        // libcurl would call a body without it a form.
        if request.method != "GET" {
            headers.append((name: "Content-Type", value: "application/json"))
        }
        let response: HTTPClientResponse
        do throws(HTTPClientError) {
            response = try await send(
                HTTPClientRequest(
                    method: request.method, url: url, headers: headers,
                    body: request.body?.bytes ?? [],
                    timeoutMilliseconds: min(left, configuration.attemptMilliseconds)))
        } catch {
            throw .unavailable(.transport(error))
        }
        if let error = AppStoreServerAnswer.error(in: response, now: wallClock()) { throw error }
        let result: Result<Value, AppStoreServerError>
        do throws(WorkerPool.QueueFull) {
            result = try await pool.run { read(response.body) }
        } catch {
            throw .unavailable(.overloaded)
        }
        return try result.get()
    }

    /// Draws the consequences of a failure for later attempts, whoever makes them.
    private func note(
        _ error: AppStoreServerError, _ request: AppStoreServerRequest,
        _ token: AppStoreServerTokens.Token
    ) {
        switch error {
        case .unauthorized: tokens.discard(token)
        case .rateLimited(let until?):
            let wait = min(until - wallClock(), AppStoreServerCaller.blockMillisecondsMax)
            limiter.block(
                request.endpoint, request.environment, now: clock.now(),
                forMilliseconds: max(0, wait))
        case .rateLimited(nil), .notFound, .refused, .unavailable, .wrongShape, .overloaded: break
        }
    }

    private func takeTurn(
        _ request: AppStoreServerRequest, until deadline: Int64, last: AppStoreServerError?
    ) async throws(AppStoreServerError) {
        let turn = limiter.take(
            request.endpoint, request.environment, now: clock.now(), deadline: deadline)
        guard turn.isTaken else {
            throw last ?? .rateLimited(until: wallClock() + turn.waitMilliseconds)
        }
        if turn.waitMilliseconds > 0 { await clock.sleep(turn.waitMilliseconds) }
    }

    /// Waits for twice as long as the time before, give or take half of it, so that services that
    /// failed together don't return together. Gives up at once if the deadline comes first.
    private func pause(
        after attempts: Int, _ deadline: Int64, last error: AppStoreServerError
    ) async throws(AppStoreServerError) {
        var full = configuration.firstPauseMilliseconds
        for _ in 1..<attempts where full < configuration.pauseMillisecondsMax { full *= 2 }
        full = min(full, configuration.pauseMillisecondsMax)
        let pause = clock.random((full / 2)...full)
        guard clock.now() + pause < deadline else { throw error }
        await clock.sleep(pause)
    }
}

extension AppStoreServerError {
    fileprivate var isWorthAnotherAttempt: Bool {
        switch self {
        case .rateLimited, .unavailable: true
        case .notFound, .refused, .unauthorized, .wrongShape, .overloaded: false
        }
    }
}
