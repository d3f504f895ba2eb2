import AppStore
package import Base

/// Where verifyReceipt is, and how patiently it is asked.
package struct VerifyReceiptConfiguration: Sendable {
    package var productionURL = "https://buy.itunes.apple.com/verifyReceipt"
    package var sandboxURL = "https://sandbox.itunes.apple.com/verifyReceipt"
    /// Needed for receipts with subscriptions only.
    package var sharedSecret: String?
    /// For all attempts and the waits between them.
    package var deadlineMilliseconds: Int64 = 20_000
    package var attemptMilliseconds: Int64 = 10_000
    package var attemptsMax = 4
    package var firstPauseMilliseconds: Int64 = 250
    package var pauseMillisecondsMax: Int64 = 4000

    package init() {}
}

/// Asks the App Store whether an app receipt is genuine (verifyReceipt).
///
/// Every receipt is sent to production first and to the sandbox only if production says that it
/// belongs there, as Apple asks; what was learnt of one receipt is never applied to the next.
///
/// Source: developer.apple.com, verifyReceipt.
package struct VerifyReceiptClient: Sendable {
    package typealias Send =
        @Sendable (HTTPClientRequest) async throws(HTTPClientError) -> HTTPClientResponse

    private let send: Send
    private let pool: WorkerPool
    private let configuration: VerifyReceiptConfiguration
    private let clock: RetryClock

    /// - Parameter pool: writes requests and reads answers, which may be large.
    package init(
        http: HTTPClient, pool: WorkerPool,
        configuration: VerifyReceiptConfiguration = VerifyReceiptConfiguration(),
        clock: RetryClock = .system
    ) {
        let send: Send = { (request) async throws(HTTPClientError) in
            try await http.send(request)
        }
        self.init(send: send, pool: pool, configuration: configuration, clock: clock)
    }

    package init(
        send: @escaping Send, pool: WorkerPool, configuration: VerifyReceiptConfiguration,
        clock: RetryClock
    ) {
        self.send = send
        self.pool = pool
        self.configuration = configuration
        self.clock = clock
    }

    /// What the receipt holds, according to the store.
    ///
    /// Takes up to the configured deadline.
    ///
    /// - Parameter receipt: the app receipt in base64.
    /// - Throws: `VerifyReceiptError`, of the answer that came last.
    package func verify(receipt: String) async throws(VerifyReceiptError) -> VerifiedReceipt {
        let body = try await body(receipt)
        let deadline = clock.now() + configuration.deadlineMilliseconds
        var environment = StoreEnvironment.production
        // Once there and once back; if they still disagree, one of them is unwell.
        var moves: Set<StoreEnvironment> = []
        var attempts = 0
        var last: AttemptFailure?
        while true {
            let answer = await ask(environment, body, until: deadline)
            // A wait may have taken longer than it should; what went wrong before it says more.
            if answer == .unavailable(.outOfTime), let last { throw last.errorForNow }
            if let other = answer.environment, moves.insert(other).inserted {
                environment = other
                continue
            }
            if case .valid(let receipt) = answer { return receipt }
            let failure = answer.failure
            attempts += 1
            guard failure.isWorthAnotherAttempt, attempts < configuration.attemptsMax else {
                throw failure.error
            }
            last = failure
            try await pause(after: attempts, until: deadline, last: failure)
        }
    }

    private func body(_ receipt: String) async throws(VerifyReceiptError) -> [UInt8] {
        var members = JSONObject([.init("receipt-data", .string(receipt))])
        members.append("password", configuration.sharedSecret.map { .string($0) })
        let object = JSON.object(members)
        do throws(WorkerPool.QueueFull) {
            return try await pool.run { object.bytes }
        } catch {
            throw .unavailable(.overloaded)
        }
    }

    private func ask(
        _ environment: StoreEnvironment, _ body: [UInt8], until deadline: Int64
    ) async -> VerifyReceiptAnswer {
        let left = deadline - clock.now()
        guard left > 0 else { return .unavailable(.outOfTime) }
        let request = HTTPClientRequest(
            method: "POST",
            url: environment == .production
                ? configuration.productionURL : configuration.sandboxURL,
            headers: [
                (name: "Content-Type", value: "application/json"),
                (name: "Accept", value: "application/json"),
            ],
            body: body, timeoutMilliseconds: min(left, configuration.attemptMilliseconds))
        let response: HTTPClientResponse
        do throws(HTTPClientError) {
            response = try await send(request)
        } catch {
            return .unavailable(.transport(error))
        }
        do throws(WorkerPool.QueueFull) {
            return try await pool.run { VerifyReceiptAnswer(response, from: environment) }
        } catch {
            return .unavailable(.overloaded)
        }
    }

    /// Waits for twice as long as the time before, give or take half of it, so that services that
    /// failed together don't return together. Gives up at once if the deadline comes first.
    private func pause(
        after attempts: Int, until deadline: Int64, last failure: AttemptFailure
    ) async throws(VerifyReceiptError) {
        var full = configuration.firstPauseMilliseconds
        for _ in 1..<attempts where full < configuration.pauseMillisecondsMax { full *= 2 }
        full = min(full, configuration.pauseMillisecondsMax)
        let pause = clock.random((full / 2)...full)
        guard clock.now() + pause < deadline else { throw failure.errorForNow }
        await clock.sleep(pause)
    }
}

/// An attempt that confirmed nothing.
private struct AttemptFailure {
    /// If no further attempt is made.
    let error: VerifyReceiptError
    /// If no further attempt could be made in time.
    let errorForNow: VerifyReceiptError
    let isWorthAnotherAttempt: Bool
}

extension VerifyReceiptAnswer {
    /// Where the store says that the receipt belongs, if not where it was sent.
    fileprivate var environment: StoreEnvironment? {
        switch self {
        case .belongsToSandbox: .sandbox
        case .belongsToProduction: .production
        case .valid, .unavailable, .unreadable, .failed: nil
        }
    }

    fileprivate var failure: AttemptFailure {
        switch self {
        case .belongsToSandbox: AttemptFailure(.status(21007))
        case .belongsToProduction: AttemptFailure(.status(21008))
        case .unavailable(let reason): AttemptFailure(reason)
        case .unreadable:
            AttemptFailure(
                error: .malformed, errorForNow: .unavailable(.status(21002)),
                isWorthAnotherAttempt: true)
        case .failed(let error):
            AttemptFailure(error: error, errorForNow: error, isWorthAnotherAttempt: false)
        case .valid: preconditionFailure("a confirmed receipt isn't a failure")
        }
    }
}

extension AttemptFailure {
    fileprivate init(_ reason: UnavailableReason) {
        self.init(
            error: .unavailable(reason), errorForNow: .unavailable(reason),
            isWorthAnotherAttempt: true)
    }
}
