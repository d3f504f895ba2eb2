import Base

/// The chains verified last, so that a signed transaction costs one signature instead of three.
final class ChainCache: Sendable {
    private struct Entry {
        let chain: VerifiedChain
        var lastUse: UInt64
    }

    private struct State {
        var entries: [[UInt8]: Entry] = [:]
        var uses: UInt64 = 0
    }

    /// The App Store has one or two chains at a time.
    static let entriesMax = 32

    private let state = Lock(State())

    /// What the certificates of a chain are known by. The last one isn't part of it: nobody
    /// vouches for it, so it could be varied to push genuine chains out.
    static func key(_ certificates: [[UInt8]]) -> [UInt8] {
        Digest.sha256(
            certificates.dropLast().flatMap { der in
                withLengthPrefix(der)
            })
    }

    /// The chain known by `key`, if all of its certificates were valid at `instant`.
    func chain(_ key: [UInt8], at instant: Int64) -> VerifiedChain? {
        state.withLock { state in
            guard let entry = state.entries[key], entry.chain.validity.contains(instant) else {
                return nil
            }
            state.uses += 1
            state.entries[key]?.lastUse = state.uses
            return entry.chain
        }
    }

    func insert(_ chain: VerifiedChain, _ key: [UInt8]) {
        state.withLock { state in
            state.uses += 1
            state.entries[key] = Entry(chain: chain, lastUse: state.uses)
            guard state.entries.count > ChainCache.entriesMax,
                let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse })
            else { return }
            state.entries[oldest.key] = nil
        }
    }

    var count: Int { state.withLock { $0.entries.count } }

    private static func withLengthPrefix(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(truncatingIfNeeded: bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)]
            + bytes
    }
}
