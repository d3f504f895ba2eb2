import Base
package import EventStore

/// Tells what the bearer of a key may do.
///
/// All keys are kept in memory and read again when they are older than `ageMillisecondsMax`, so
/// that a revoked key is refused within a second on every instance. A key that isn't known is looked
/// for at once, unless strangers have caused as many readings as they may.
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
    /// How many readings unknown keys cause within `ageMillisecondsMax`.
    package static let strangerReadingsMax = 20

    private let store: any APIKeyStore
    private let now: @Sendable () -> Int64
    /// Nearly every request finds its key here, and needn't wait for its turn with the actor.
    private let known = Lock(KnownKeys())
    private var reading: [CheckedContinuation<Bool, Never>]?
    private var strangerReadings = 0
    private var strangersSince: Int64 = 0

    /// - Parameter now: milliseconds of a clock that never goes back.
    package init(store: any APIKeyStore, now: @escaping @Sendable () -> Int64) {
        self.store = store
        self.now = now
    }

    /// - Parameter authorization: the value of the request's `Authorization` field.
    /// - Throws: `Denial` unless it bears a key in force that has `scope`.
    package nonisolated func check(
        _ authorization: String?, for scope: APIScope
    ) async throws(Denial) {
        guard try await scopes(authorization).contains(scope) else { throw .forbidden }
    }

    /// What the bearer of a key may do, for requests whose content says which scope they need.
    package nonisolated func scopes(_ authorization: String?) async throws(Denial) -> APIScopes {
        guard let text = KeyRing.key(authorization) else { throw .unauthenticated }
        let arrival = now()
        var found = known.withLock { $0.isTooOld(at: arrival) ? nil : $0.keys[text.id] }
        if found == nil { found = try await key(text.id, for: arrival) }
        guard let found, text.matches(found.key), found.key.revokedAt == nil else {
            throw .unauthenticated
        }
        return found.scopes
    }

    /// Reads what a request that came at `arrival` needs to be told whether there is such a key.
    private func key(_ id: String, for arrival: Int64) async throws(Denial) -> KnownKey? {
        // A slow reading may be older than allowed when it ends, but not if it began after the
        // request had come. One that is joined may have begun before; the next can't have.
        for _ in 0..<2 where isTooOld(at: arrival) {
            guard await read() else { throw .unavailable }
        }
        if !knows(id) { try await look(for: id, since: arrival) }
        guard !isTooOld(at: arrival) else { throw .unavailable }
        return known.withLock { $0.keys[id] }
    }

    /// Reads until a key that had been made before `arrival` must have been found.
    private func look(for id: String, since arrival: Int64) async throws(Denial) {
        // One reading may have begun before the key was made, the next can't have. They follow
        // each other, so that strangers cause one at a time.
        for _ in 0..<2 where !knows(id) && known.withLock({ $0.readAt ?? .min }) <= arrival {
            guard reading != nil || mayReadForStranger() else { return }
            guard await read() else { throw .unavailable }
        }
    }

    private func mayReadForStranger() -> Bool {
        let now = now()
        if now - strangersSince > KeyRing.ageMillisecondsMax {
            (strangersSince, strangerReadings) = (now, 0)
        }
        guard strangerReadings < KeyRing.strangerReadingsMax else { return false }
        strangerReadings += 1
        return true
    }

    private func knows(_ id: String) -> Bool { known.withLock { $0.keys[id] != nil } }

    private func isTooOld(at instant: Int64) -> Bool {
        known.withLock { $0.isTooOld(at: instant) }
    }

    /// Reads all keys, and answers whether that went well; whoever comes while it's under way waits
    /// for the same reading.
    @discardableResult
    private func read() async -> Bool {
        if reading != nil {
            return await withCheckedContinuation { reading?.append($0) }
        }
        reading = []
        let begun = now()
        let isRead: Bool
        do throws(EventStoreError) {
            let all = try await store.apiKeys()
            let keys = KnownKeys(all, readAt: begun)
            known.withLock { $0 = keys }
            isRead = true
        } catch {
            // What is known grows too old, and `check` says so.
            isRead = false
        }
        let waiting = reading ?? []
        reading = nil
        for continuation in waiting { continuation.resume(returning: isRead) }
        return isRead
    }

    /// The key of `Bearer` credentials (RFC 6750, section 2.1): the scheme's letters may have either
    /// case, and any number of blanks follows (RFC 9110, sections 11.1 and 11.4).
    private static func key(_ authorization: String?) -> APIKeyText? {
        guard let authorization else { return nil }
        let bytes = Array(authorization.utf8)
        guard bytes.count > scheme.count, bytes[scheme.count] == UInt8(ascii: " "),
            zip(bytes, scheme).allSatisfy({ $0 | 0x20 == $1 })
        else { return nil }
        return APIKeyText(bytes[scheme.count...].drop { $0 == UInt8(ascii: " ") })
    }

    private static let scheme = Array("bearer".utf8)
}

/// What the last reading has found.
private struct KnownKeys {
    private(set) var keys: [String: KnownKey] = [:]
    private(set) var readAt: Int64?

    init() {}

    init(_ keys: [APIKey], readAt: Int64) {
        for key in keys {
            let scopes = APIScopes(key.scopes.compactMap(APIScope.init))
            self.keys[key.id] = KnownKey(key: key, scopes: scopes)
        }
        self.readAt = readAt
    }

    /// Whether it's too old for a request that came at `instant`.
    func isTooOld(at instant: Int64) -> Bool {
        guard let readAt else { return true }
        return instant - readAt > KeyRing.ageMillisecondsMax
    }
}

private struct KnownKey {
    let key: APIKey
    let scopes: APIScopes
}
