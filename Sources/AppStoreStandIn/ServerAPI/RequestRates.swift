import Base

/// Counts requests against Apple's published limits, for each endpoint and environment.
///
/// Each is a bucket that holds the requests of one second (one, where a second has less than one)
/// and fills at the published rate.
final class RequestRates: Sendable {
    private struct Bucket: Sendable {
        /// In thousandths of a request.
        var left: Int64
        var filledAt: Int64
    }

    private struct State: Sendable {
        var buckets: [String: Bucket] = [:]
        var percentage: Int64 = 100
    }

    private let state = Lock(State())
    /// Milliseconds of a clock that never goes back.
    private let monotonic: @Sendable () -> Int64

    static let percentageMax: Int64 = 100_000
    private static let oneRequest: Int64 = 1000

    init(monotonic: @escaping @Sendable () -> Int64) { self.monotonic = monotonic }

    /// How much of the published limits is allowed; 0 for everything.
    func setPercentage(_ percentage: Int64) {
        state.withLock { $0 = State(percentage: percentage) }
    }

    /// Takes one request; if there's none left, how many milliseconds later there will be.
    ///
    /// - Parameter perThousandSeconds: the published limit.
    func take(_ name: String, perThousandSeconds: Int64) -> Int64? {
        let now = monotonic()
        return state.withLock { state in
            guard state.percentage > 0 else { return nil }
            // Thousandths of a request for each second.
            let rate = max(1, perThousandSeconds * state.percentage / 100)
            let capacity = max(RequestRates.oneRequest, rate)
            var bucket = state.buckets[name] ?? Bucket(left: capacity, filledAt: now)
            let passed = min(max(0, now - bucket.filledAt), 10_000_000)
            let filled = passed * rate / 1000
            if filled > 0 {
                bucket.left = min(capacity, bucket.left + filled)
                bucket.filledAt = now
            }
            let isAllowed = bucket.left >= RequestRates.oneRequest
            if isAllowed { bucket.left -= RequestRates.oneRequest }
            state.buckets[name] = bucket
            guard !isAllowed else { return nil }
            return ((RequestRates.oneRequest - bucket.left) * 1000 + rate - 1) / rate
        }
    }
}
