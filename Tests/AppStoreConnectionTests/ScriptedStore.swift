import AppStoreConnection
import Base

/// 2026-11-30T14:34:00Z in milliseconds since 1970.
let noon: Int64 = 1_796_049_240_000

/// A store that gives the answers it was told, and time that passes only when somebody waits.
final class ScriptedStore: Sendable {
    typealias Answer = Result<HTTPClientResponse, HTTPClientError>

    private struct State {
        var answers: [Answer]
        var requests: [HTTPClientRequest] = []
        var pauses: [Int64] = []
        var times: [Int64] = []
        var now: Int64 = 1000
        var clockChange: Int64 = 0
    }

    private let state: Lock<State>
    private let takesMilliseconds: Int64

    /// - Parameter takesMilliseconds: how long each answer takes.
    init(_ answers: [Answer], takesMilliseconds: Int64 = 0) {
        state = Lock(State(answers: answers))
        self.takesMilliseconds = takesMilliseconds
    }

    convenience init(_ answers: JSON...) {
        self.init(answers.map { .json($0) })
    }

    /// The time of each request.
    var times: [Int64] { state.withLock { $0.times } }
    var requests: [HTTPClientRequest] { state.withLock { $0.requests } }
    var pauses: [Int64] { state.withLock { $0.pauses } }

    /// P for each request to production, S for each to the sandbox.
    var asked: String {
        requests.map { $0.url.contains("sandbox") ? "S" : "P" }.joined()
    }

    /// Waits are as long as may be, or as short.
    func client(
        longWaits: Bool = true, oversleepMilliseconds: Int64 = 0,
        _ change: (inout VerifyReceiptConfiguration) -> Void = { _ in }
    ) -> VerifyReceiptClient {
        var configuration = VerifyReceiptConfiguration()
        change(&configuration)
        return VerifyReceiptClient(
            send: { (request) async throws(HTTPClientError) in try self.answer(request) },
            pool: pool, configuration: configuration,
            clock: clock(longWaits: longWaits, oversleepMilliseconds: oversleepMilliseconds))
    }

    /// The other clock says `noon` when this one says 1000, and is set by `clockChange`.
    func serverClient(
        oversleepMilliseconds: Int64 = 0,
        _ change: (inout AppStoreServerConfiguration) -> Void = { _ in }
    ) throws -> AppStoreServerClient {
        var configuration = try AppStoreServerConfiguration.test()
        change(&configuration)
        return AppStoreServerClient(
            send: { (request) async throws(HTTPClientError) in try self.answer(request) },
            pool: pool, configuration: configuration,
            clock: clock(longWaits: true, oversleepMilliseconds: oversleepMilliseconds),
            wallClock: { self.state.withLock { noon + $0.now - 1000 + $0.clockChange } })
    }

    /// Lets time pass.
    func wait(milliseconds: Int64) { state.withLock { $0.now += milliseconds } }

    /// Sets the time of day forward, or back.
    func setClock(byMilliseconds milliseconds: Int64) {
        state.withLock { $0.clockChange += milliseconds }
    }

    private func clock(longWaits: Bool, oversleepMilliseconds: Int64) -> RetryClock {
        RetryClock(
            now: { self.state.withLock { $0.now } },
            sleep: { milliseconds in
                self.state.withLock {
                    $0.pauses.append(milliseconds)
                    $0.now += milliseconds + oversleepMilliseconds
                }
            },
            random: { longWaits ? $0.upperBound : $0.lowerBound })
    }

    private func answer(
        _ request: HTTPClientRequest
    ) throws(HTTPClientError) -> HTTPClientResponse {
        let answer = state.withLock { state in
            state.requests.append(request)
            state.times.append(state.now)
            state.now += takesMilliseconds
            // The last answer is given again and again.
            return state.answers.count > 1 ? state.answers.removeFirst() : state.answers[0]
        }
        return try answer.get()
    }
}

extension ScriptedStore.Answer {
    static func json(_ value: JSON) -> ScriptedStore.Answer {
        .success(HTTPClientResponse(status: 200, body: value.bytes))
    }

    static func text(
        _ text: String, status: Int = 200, retryAfter: String? = nil
    ) -> ScriptedStore.Answer {
        .success(
            HTTPClientResponse(status: status, body: Array(text.utf8), retryAfter: retryAfter))
    }

    /// An error as the App Store Server API words it.
    static func error(_ code: Int64, status: Int? = nil) -> ScriptedStore.Answer {
        .text(
            #"{"errorCode":\#(code),"errorMessage":"Text."}"#,
            status: status ?? Int(code / 10_000))
    }
}

/// Two threads for all tests.
let pool = WorkerPool(threads: 2, jobsMax: 1000)

/// An entry of `in_app`.
func entry(_ id: String, product: String = "coins100", _ more: [(String, JSON)] = []) -> JSON {
    let members: [(String, JSON)] = [
        ("quantity", "1"), ("product_id", .string(product)), ("transaction_id", .string(id)),
        ("original_transaction_id", .string(id)), ("purchase_date_ms", "1796049240000"),
    ]
    let kept = members.filter { member in !more.contains { $0.0 == member.0 } }
    return .object(JSONObject((kept + more).map { .init($0.0, $0.1) }))
}

/// An answer of verifyReceipt to a good receipt.
func answer(_ entries: [JSON], environment: String = "Production") -> JSON {
    [
        "status": 0, "environment": .string(environment),
        "receipt": ["bundle_id": "com.nonchalant", "in_app": .array(entries)],
    ]
}
