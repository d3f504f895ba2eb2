import AppStoreStandIn
import Base
import Testing

@testable import AppStore

@Suite struct `The time at which a chain is judged` {
    private let verifier: SignedTransactionVerifier

    init() throws { verifier = SignedTransactionVerifier(roots: try roots()) }

    /// A leaf that was valid for one hour, a year before noon.
    private static let start = noon / 1000 - 31_536_000
    private let chain = authority.chain(leafValidity: start..<(start + 3600))

    private func signed(at seconds: Int64) -> String {
        chain.sign(payload([("signedDate", .integer(seconds * 1000))]))
    }

    @Test func `is when the data was signed, not now`() throws {
        let start = Self.start
        for instant in [start, start + 1, start + 3599] {
            let transaction = try verifier.verify(signed(at: instant), now: noon)
            #expect(transaction.signedDate == instant * 1000)
        }
    }

    @Test func `is outside the validity even for a chain that is cached`() throws {
        let start = Self.start
        _ = try verifier.verify(signed(at: start), now: noon)
        for instant in [start - 1, start + 3600, start + 7200] {
            #expect(throws: SignedDataError.certificateNotValidThen) {
                try verifier.verify(signed(at: instant), now: noon)
            }
        }
    }

    @Test func `is now for a payload without a date`() throws {
        let jws = chain.sign(payload([("signedDate", nil)]))
        #expect(try verifier.verify(jws, now: Self.start * 1000).signedDate == nil)
        #expect(throws: SignedDataError.certificateNotValidThen) {
            try verifier.verify(jws, now: noon)
        }
    }
}

@Suite struct `The cache of chains` {
    @Test func `keeps those used last`() throws {
        let cache = ChainCache()
        let roots = try roots()
        let chain = try VerifiedChain(
            authority.chain.certificates, roots: roots, at: noon / 1000)
        func key(_ number: Int) -> [UInt8] { Digest.sha256([UInt8(number)]) }
        for number in 0..<32 { cache.insert(chain, key(number)) }
        // The first is used once more, so that the second is the oldest.
        #expect(cache.chain(key(0), at: noon / 1000) != nil)
        cache.insert(chain, key(32))
        #expect(cache.count == 32)
        #expect(cache.chain(key(0), at: noon / 1000) != nil)
        #expect(cache.chain(key(1), at: noon / 1000) == nil)
        #expect(cache.chain(key(2), at: noon / 1000) != nil)
    }

    @Test func `knows a chain by its leaf and intermediate`() {
        let chain = authority.chain.certificates
        #expect(ChainCache.key(chain) == ChainCache.key([chain[0], chain[1], []]))
        #expect(ChainCache.key([[1], [2, 3], []]) != ChainCache.key([[1, 2], [3], []]))
        #expect(ChainCache.key(chain) != ChainCache.key([chain[1], chain[0], chain[2]]))
    }

    @Test func `serves many threads`() async throws {
        let verifier = SignedTransactionVerifier(roots: try roots())
        let pool = WorkerPool(threads: 4, jobsMax: 100)
        defer { pool.stop() }
        let jws = authority.chain.sign(payload())
        let expected = try expectedTransaction()
        await withTaskGroup { group in
            for _ in 0..<40 {
                group.addTask {
                    let transaction = try? await pool.run {
                        try? verifier.verify(jws, now: noon)
                    }
                    #expect(transaction == expected)
                }
            }
        }
    }
}
