import AppStore
import Base

/// Keeps calls below the store's limits: a bucket of tokens for every endpoint and environment,
/// which fills evenly. A caller takes a token in advance and waits until it's there.
final class RateLimiter: Sendable {
    private struct Key: Hashable {
        let endpoint: AppStoreServerEndpoint
        let environment: StoreEnvironment
    }

    /// When the bucket will be full again, and until when the store wants to be left alone; both in
    /// microseconds of the clock.
    private struct Bucket {
        var fullAt: Int64 = 0
        var blockedUntil: Int64 = 0
    }

    private let ratePercent: Int64
    private let buckets = Lock<[Key: Bucket]>([:])

    init(ratePercent: Int64) { self.ratePercent = min(max(1, ratePercent), 100) }

    /// Takes a token.
    ///
    /// - Parameters:
    ///   - now: milliseconds of a clock that never goes back.
    ///   - deadline: of the same clock; a token that comes later isn't taken.
    /// - Returns: the milliseconds to wait for it, and whether it was taken.
    func take(
        _ endpoint: AppStoreServerEndpoint, _ environment: StoreEnvironment, now: Int64,
        deadline: Int64
    ) -> (waitMilliseconds: Int64, isTaken: Bool) {
        let pace = pace(endpoint, environment)
        let now = now * 1000
        return buckets.withLock { buckets in
            var bucket = buckets[Key(endpoint: endpoint, environment: environment)] ?? Bucket()
            let full = max(bucket.fullAt, now)
            let start = max(full - pace.slack, bucket.blockedUntil, now)
            let wait = (start - now + 999) / 1000
            guard now / 1000 + wait < deadline else { return (wait, false) }
            bucket.fullAt = max(full, start) + pace.interval
            buckets[Key(endpoint: endpoint, environment: environment)] = bucket
            return (wait, true)
        }
    }

    /// Leaves the store alone for so many milliseconds, since it asks for it.
    func block(
        _ endpoint: AppStoreServerEndpoint, _ environment: StoreEnvironment, now: Int64,
        forMilliseconds milliseconds: Int64
    ) {
        let until = (now + milliseconds) * 1000
        let key = Key(endpoint: endpoint, environment: environment)
        buckets.withLock { buckets in
            let known = buckets[key]?.blockedUntil ?? 0
            buckets[key, default: Bucket()].blockedUntil = max(known, until)
        }
    }

    /// Microseconds between two tokens, and how far ahead of that a burst may run.
    ///
    /// A burst of a tenth of the limit together with the tokens of the second after it stays below
    /// the limit.
    private func pace(
        _ endpoint: AppStoreServerEndpoint, _ environment: StoreEnvironment
    ) -> (interval: Int64, slack: Int64) {
        let tenths = endpoint.requestsPerSecond * (environment == .production ? 10 : 1)
        let interval = 10 * 1_000_000 * 100 / (tenths * ratePercent)
        let burst = max(1, tenths / 100)
        return (interval, (burst - 1) * interval)
    }
}
