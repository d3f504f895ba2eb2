package import EventStore

/// Tells what the bearer of a key may do.
///
/// All keys are kept in memory and read again when they are older than `ageMillisecondsMax`, so
/// that a revoked key is refused, and a new one taken, within a second on every instance.
package actor KeyRing {
    package enum Denial: Error, Hashable, Sendable {
        /// There is no such key in force.
        case unauthenticated
        /// The key may not do this.
        case forbidden
        /// The keys can't be read now.
        case unavailable
    }

    package static let ageMillisecondsMax: Int64 = 500

    private let store: any APIKeyStore
    private let now: @Sendable () -> Int64
    private var keys: [String: APIKey] = [:]
    private var readAt: Int64?
    private var reading: [CheckedContinuation<Void, Never>]?

    /// - Parameter now: milliseconds of a clock that never goes back.
    package init(store: any APIKeyStore, now: @escaping @Sendable () -> Int64) {
        self.store = store
        self.now = now
    }

    /// - Parameter authorization: the value of the request's `Authorization` field.
    /// - Throws: `Denial` unless it bears a key in force that has `scope`.
    package func check(
        _ authorization: String?, for scope: APIScope
    ) async throws(Denial) {
        guard let text = KeyRing.key(authorization) else {
            throw .unauthenticated
        }
        let arrival = now()
        if isTooOld { await read() }
        // A key made just now must be found: one reading may have begun before it was made, the
        // next can't have. They follow each other, so that strangers cause one at a time.
        for _ in 0..<2 where keys[text.id] == nil && (readAt ?? .min) <= arrival { await read() }
        guard !isTooOld else { throw .unavailable }
        guard let key = keys[text.id], text.matches(key), key.revokedAt == nil else {
            throw .unauthenticated
        }
        guard key.scopes.contains(scope.rawValue) else { throw .forbidden }
    }

    private var isTooOld: Bool {
        guard let readAt else { return true }
        return now() - readAt > KeyRing.ageMillisecondsMax
    }

    /// Reads all keys; whoever comes while that's under way waits for the same reading.
    private func read() async {
        if reading != nil {
            await withCheckedContinuation { reading?.append($0) }
            return
        }
        reading = []
        let begun = now()
        do throws(EventStoreError) {
            let all = try await store.apiKeys()
            keys = Dictionary(all.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
            readAt = begun
        } catch {
            // What is known grows too old, and `check` says so.
        }
        let waiting = reading ?? []
        reading = nil
        for continuation in waiting { continuation.resume() }
    }

    private static func key(_ authorization: String?) -> APIKeyText? {
        guard let authorization else { return nil }
        let bytes = Array(authorization.utf8)
        // The scheme's letters may have either case (RFC 9110, section 11.1).
        guard bytes.count > scheme.count,
            zip(bytes, scheme).allSatisfy({ $0 | 0x20 == $1 | 0x20 })
        else { return nil }
        return APIKeyText(bytes[scheme.count...])
    }

    private static let scheme = Array("bearer ".utf8)
}
