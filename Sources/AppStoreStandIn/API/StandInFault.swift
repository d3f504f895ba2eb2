import Base
import HTTPServer

/// How the stand-in misbehaves, and how often.
package struct StandInFault: Hashable, Sendable {
    /// What is done instead of answering properly.
    package enum Effect: Hashable, Sendable {
        /// The answer comes, but late.
        case none
        /// This HTTP status.
        case status(Int)
        /// A page for people, with this HTTP status.
        case html(Int)
        /// HTTP 200 with this status of verifyReceipt.
        case receiptStatus(Int64, isRetryable: Bool?)
        /// An error of the Server API, and for how many milliseconds to wait, if that's said.
        case apiError(status: Int, code: Int64, retryAfterMilliseconds: Int64?)
        /// The connection is reset.
        case reset
    }

    /// A path without its first slash and without ids, such as `verifyReceipt`,
    /// `transactions/finish` or `sandbox/inApps/v1/transactions`.
    package var endpoint: String
    package var times: Int64
    package var effect: Effect
    package var delayMilliseconds: Int64

    package static let delayMillisecondsMax: Int64 = 60_000
    package static let retryAfterMillisecondsMax: Int64 = 86_400_000
    package static let timesMax: Int64 = 1_000_000

    package init(
        endpoint: String, times: Int64 = 1, effect: Effect, delayMilliseconds: Int64 = 0
    ) {
        self.endpoint = endpoint
        self.times = times
        self.effect = effect
        self.delayMilliseconds = delayMilliseconds
    }

    /// What is answered, or nil if nothing is wrong but the delay.
    ///
    /// - Parameter now: milliseconds since 1970.
    func response(at now: Int64) -> HTTPResponse? {
        switch effect {
        case .apiError(let status, let code, let wait):
            let response = HTTPResponse.apiError(
                status: status, code: code, message: "The stand-in was asked to fail.")
            return wait.map { response.retryable(after: now + $0) } ?? response
        case .none: return nil
        case .reset: return .reset
        case .status(let status):
            return .json(
                ["code": "fault", "message": "The stand-in was asked to fail."], status: status)
        case .html(let status):
            let page =
                "<html><body>Your request produced an error. [newNullResponse]</body></html>"
            return HTTPResponse(
                status: status, headers: [(name: "Content-Type", value: "text/html")],
                body: Array(page.utf8))
        case .receiptStatus(let status, let isRetryable):
            var answer = JSONObject([.init("status", .integer(status))])
            // With an underscore, as real answers have it.
            answer.append("is_retryable", isRetryable.map { .bool($0) })
            return .json(.object(answer))
        }
    }
}

extension StandInFault {
    /// Reads the body of `POST /faults`.
    init(_ body: [UInt8]) throws(RequestError) {
        let fields = try RequestFields(
            body,
            known: [
                "endpoint", "times", "status", "receiptStatus", "isRetryable",
                "delayMilliseconds", "reset", "html", "errorCode", "retryAfterMilliseconds",
            ])
        guard let endpoint = try fields.text("endpoint") else {
            throw .invalid("endpoint is missing.")
        }
        let delay = try fields.integer(
            "delayMilliseconds", 0...StandInFault.delayMillisecondsMax)
        let effect = try StandInFault.effect(fields)
        guard effect != .none || delay != nil else { throw .invalid("No fault is named.") }
        self.init(
            endpoint: endpoint,
            times: try fields.integer("times", 1...StandInFault.timesMax) ?? 1,
            effect: effect, delayMilliseconds: delay ?? 0)
    }

    private static func effect(_ fields: RequestFields) throws(RequestError) -> Effect {
        let status = try fields.integer("status", 200...599).map { Int($0) }
        let isRetryable = try fields.flag("isRetryable")
        let wait = try fields.integer(
            "retryAfterMilliseconds", 0...StandInFault.retryAfterMillisecondsMax)
        if let code = try fields.integer("errorCode", 4_000_000...5_999_999) {
            // Apple's codes begin with their status.
            return .apiError(
                status: status ?? Int(code / 10_000), code: code, retryAfterMilliseconds: wait)
        }
        guard wait == nil else { throw .invalid("retryAfterMilliseconds needs an errorCode.") }
        if try fields.flag("reset") == true { return .reset }
        if try fields.flag("html") == true { return .html(status ?? 200) }
        if let receiptStatus = try fields.integer("receiptStatus") {
            return .receiptStatus(receiptStatus, isRetryable: isRetryable)
        }
        return status.map { .status($0) } ?? .none
    }
}

/// The faults that are still to come, in the order they were asked for.
final class FaultList: Sendable {
    private let faults = Lock<[StandInFault]>([])

    static let faultsMax = 100

    /// False if there are too many.
    func add(_ fault: StandInFault) -> Bool {
        faults.withLock { faults in
            guard faults.count < FaultList.faultsMax else { return false }
            faults.append(fault)
            return true
        }
    }

    var count: Int { faults.withLock { $0.count } }

    func removeAll() { faults.withLock { $0.removeAll() } }

    /// The first fault of `endpoint`, once less from now on.
    func take(_ endpoint: String) -> StandInFault? {
        faults.withLock { faults in
            guard let index = faults.firstIndex(where: { $0.endpoint == endpoint }) else {
                return nil
            }
            faults[index].times -= 1
            defer { if faults[index].times <= 0 { faults.remove(at: index) } }
            return faults[index]
        }
    }
}
