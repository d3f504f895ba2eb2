import Base
import CoinLedger
import CoinLedgerService
import EventStore
import LedgerTestSupport
import PostgresEventStore
import TestSupport
import Testing

/// Keys in memory, that counts readings and fails as it's told to.
private final class Keys: APIKeyStore {
    private struct State {
        var keys: [APIKey] = []
        var readings = 0
        var isFailing = false
        var readingMilliseconds: Int64 = 0
        var now: Int64 = 1_000_000
    }

    private let state = Lock(State())

    var readings: Int { state.withLock { $0.readings } }
    func setFailing(_ isFailing: Bool) { state.withLock { $0.isFailing = isFailing } }
    func setReading(milliseconds: Int64) {
        state.withLock { $0.readingMilliseconds = milliseconds }
    }
    func now() -> Int64 { state.withLock { $0.now } }
    func pass(milliseconds: Int64) { state.withLock { $0.now += milliseconds } }

    func apiKeys() async throws(EventStoreError) -> [APIKey] {
        // Others get a chance to come meanwhile.
        await Task.yield()
        return try state.withLock { (state) throws(EventStoreError) in
            state.readings += 1
            state.now += state.readingMilliseconds
            if state.isFailing { throw .unavailable("told to") }
            return state.keys
        }
    }

    func create(_ key: APIKey) async throws(EventStoreError) {
        state.withLock { $0.keys.append(key) }
    }

    func revokeAPIKey(_ id: String, at time: Timestamp) async throws(EventStoreError) -> Bool {
        state.withLock { state in
            guard let index = state.keys.firstIndex(where: { $0.id == id }) else { return false }
            let key = state.keys[index]
            state.keys[index] = APIKey(
                id: key.id, name: key.name, scopes: key.scopes, secretSHA256: key.secretSHA256,
                createdAt: key.createdAt, revokedAt: time)
            return key.revokedAt == nil
        }
    }

    /// Makes a key and gives its `Authorization`.
    func make(_ scopes: APIScope...) async throws -> (id: String, authorization: String) {
        let made = APIKeyText.make(name: "test", scopes: scopes, at: .noon)
        try await create(made.key)
        return (made.key.id, "Bearer \(made.text)")
    }
}

private let stranger = "Bearer clk_0123456789ab_" + String(repeating: "0", count: 64)

@Suite struct `A key ring` {
    @Test func `lets a key do what its scopes say`() async throws {
        try await withRing { (keys, ring) async throws in
            let key = try await keys.make(.purchases, .read)
            #expect(await denial(ring, key.authorization, .purchases) == nil)
            #expect(await denial(ring, key.authorization, .read) == nil)
            #expect(await denial(ring, key.authorization, .support) == .forbidden)
        }
    }

    @Test func `takes a new key at once`() async throws {
        try await withRing { (keys, ring) async throws in
            let first = try await keys.make(.read)
            #expect(await denial(ring, first.authorization) == nil)
            let second = try await keys.make(.read)
            #expect(await denial(ring, second.authorization) == nil)
        }
    }

    @Test func `refuses a revoked key within a second`() async throws {
        try await withRing { (keys, ring) async throws in
            let key = try await keys.make(.read)
            #expect(await denial(ring, key.authorization) == nil)
            #expect(try await keys.revokeAPIKey(key.id, at: .noon))
            keys.pass(milliseconds: 1_000)
            #expect(await denial(ring, key.authorization) == .unauthenticated)
        }
    }

    @Test func `reads once for all uses of half a second`() async throws {
        try await withRing { (keys, ring) async throws in
            let key = try await keys.make(.read)
            for _ in 0..<5 {
                #expect(await denial(ring, key.authorization) == nil)
                keys.pass(milliseconds: 100)
            }
            #expect(keys.readings == 1)
            keys.pass(milliseconds: 1)
            #expect(await denial(ring, key.authorization) == nil)
            #expect(keys.readings == 2)
        }
    }

    @Test func `does not read for strangers as often as they like`() async throws {
        try await withRing { (keys, ring) async throws in
            for _ in 0..<1_000 { #expect(await denial(ring, stranger) == .unauthenticated) }
            #expect(keys.readings <= KeyRing.strangerReadingsMax + 1)
            // A while later, a new key is found at once.
            keys.pass(milliseconds: KeyRing.ageMillisecondsMax + 1)
            #expect(await denial(ring, stranger) == .unauthenticated)
            let key = try await keys.make(.read)
            #expect(await denial(ring, key.authorization) == nil)
        }
    }

    @Test func `reads for strangers who come together once or twice`() async throws {
        try await withRing { (keys, ring) async throws in
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<200 {
                    group.addTask {
                        #expect(await denial(ring, stranger) == .unauthenticated)
                    }
                }
            }
            #expect(keys.readings <= 3)
        }
    }

    @Test func `goes on with what it knows while the store is away, for half a second`()
        async throws
    {
        try await withRing { (keys, ring) async throws in
            let key = try await keys.make(.read)
            #expect(await denial(ring, key.authorization) == nil)
            keys.setFailing(true)
            keys.pass(milliseconds: 500)
            #expect(await denial(ring, key.authorization) == nil)
            keys.pass(milliseconds: 1)
            #expect(await denial(ring, key.authorization) == .unavailable)
            keys.setFailing(false)
            #expect(await denial(ring, key.authorization) == nil)
        }
    }

    @Test func `takes a key although reading takes longer than keys may be old`() async throws {
        try await withRing { keys, ring in
            let key = try await keys.make(.read)
            keys.setReading(milliseconds: 2000)
            for _ in 0..<3 {
                #expect(await denial(ring, key.authorization) == nil)
                keys.pass(milliseconds: KeyRing.ageMillisecondsMax + 1)
            }
            #expect(keys.readings == 3)
            _ = try await keys.revokeAPIKey(key.id, at: .noon)
            keys.pass(milliseconds: KeyRing.ageMillisecondsMax + 1)
            #expect(await denial(ring, key.authorization) == .unauthenticated)
        }
    }

    @Test func `can't tell of a stranger while the store is away`() async throws {
        try await withRing { (keys, ring) async throws in
            let key = try await keys.make(.read)
            #expect(await denial(ring, key.authorization) == nil)
            keys.setFailing(true)
            #expect(await denial(ring, stranger) == .unavailable)
            // What isn't a key at all needs no store.
            #expect(await denial(ring, "Bearer x") == .unauthenticated)
        }
    }

    @Test func `is unavailable before its first reading`() async throws {
        try await withRing { (keys, ring) async throws in
            keys.setFailing(true)
            let key = try await keys.make(.read)
            #expect(await denial(ring, key.authorization) == .unavailable)
        }
    }

    @Test func `wants the whole secret`() async throws {
        try await withRing { (keys, ring) async throws in
            let key = try await keys.make(.read)
            let text = key.authorization
            let last = text.last == "0" ? "1" : "0"
            for wrong in [
                String(text.dropLast()), text + "0", String(text.dropLast()) + last,
                text.uppercased(), "Bearer clk_\(key.id)_", "Bearer clk_\(key.id)",
            ] {
                #expect(await denial(ring, wrong) == .unauthenticated, "\(wrong)")
            }
        }
    }

    @Test(arguments: [
        ("Bearer ", true), ("bearer ", true), ("BEARER ", true), ("", false), ("Basic ", false),
        ("Bearer", false), (" Bearer ", false), ("Bearer  ", true), ("Bearer\t", false),
        ("Bearer: ", false),
        ("Token ", false), ("Bearer Bearer ", false), ("Bearer clk_", false),
    ])
    func `wants a bearer`(prefix: String, isTaken: Bool) async throws {
        try await withRing { (keys, ring) async throws in
            let text = try await keys.make(.read).authorization.dropFirst("Bearer ".count)
            let denial = await denial(ring, prefix + text)
            #expect(denial == (isTaken ? nil : .unauthenticated))
        }
    }

    @Test func `wants a header of sane size`() async throws {
        try await withRing { (keys, ring) async throws in
            for odd in [
                nil, "", " ", "Bearer", "Bearer é",
                "Bearer clk_" + String(repeating: "a", count: 1_000_000),
                "Bearer clk_\u{0}", "Bearer clk__", "Bearer clk_0123456789a_0",
            ] as [String?] {
                #expect(await denial(ring, odd) == .unauthenticated)
            }
            #expect(keys.readings == 0)
        }
    }

    private func withRing(
        _ body: @escaping @Sendable (Keys, KeyRing) async throws -> Void
    ) async throws {
        try await onLoop { (_) async throws in
            let keys = Keys()
            try await body(keys, KeyRing(store: keys, now: { keys.now() }))
        }
    }
}

@Suite struct `Keys in PostgreSQL` {
    @Test func `are made, found and revoked once`() async throws {
        try await withPostgres { (database, loop) async throws in
            try await withPostgresStore(of: database, on: loop) { store in
                let made = APIKeyText.make(
                    name: "shop \"1\"", scopes: [.purchases, .read], at: .noon)
                let other = APIKeyText.make(
                    name: "desk", scopes: [.support], at: "2026-11-30T13:00:00Z")
                try await store.create(other.key)
                try await store.create(made.key)
                #expect(try await store.apiKeys() == [made.key, other.key])
                #expect(try await store.revokeAPIKey(made.key.id, at: "2026-12-01T00:00:00Z"))
                #expect(try await !store.revokeAPIKey(made.key.id, at: "2026-12-02T00:00:00Z"))
                #expect(try await !store.revokeAPIKey("nobody", at: .noon))
                let revoked = try await store.apiKeys().map(\.revokedAt)
                #expect(revoked == ["2026-12-01T00:00:00Z", nil])
                let twice = await storeFailure { () throws(EventStoreError) in
                    try await store.create(made.key)
                }
                #expect(twice != nil)
                // The secret is nowhere.
                let secret = made.text.suffix(64)
                let rows = try database.run("SELECT k::text FROM coinledger.api_keys k")
                #expect(rows.count == 2)
                #expect(!rows.joined().contains { $0?.contains(secret) != false })
            }
        }
    }
}

/// Why `authorization` was refused, or nil if it wasn't.
private func denial(
    _ ring: KeyRing, _ authorization: String?, _ scope: APIScope = .read
) async -> KeyRing.Denial? {
    do throws(KeyRing.Denial) {
        try await ring.check(authorization, for: scope)
        return nil
    } catch {
        return error
    }
}
