import AppStore
import AppStoreStandIn
import Base
import Testing

@Suite struct `A damaged signed transaction` {
    private let jws: [UInt8]
    private let verifier: SignedTransactionVerifier

    init() throws {
        // Certificates on P-256 only, since thousands of chains are verified here.
        let seconds = noon / 1000
        let authority = StandInAuthority(
            validity: (seconds - 1000)..<(seconds + 1000), authorityCurve: .p256)
        jws = Array(authority.chain.sign(payload()).utf8)
        verifier = SignedTransactionVerifier(roots: try roots(authority))
    }

    private func verify(_ bytes: some Collection<UInt8>) throws -> StoreTransaction {
        try verifier.verify(String(decoding: bytes, as: UTF8.self), now: noon)
    }

    @Test func `is refused wherever it is cut off`() throws {
        #expect(try verify(jws) == expectedTransaction())
        for end in jws.indices {
            #expect(throws: SignedDataError.self) { try verify(jws[..<end]) }
        }
    }

    // Four times 2,500 changes, so that more than one core can share the work.
    @Test(arguments: 20_261_130..<20_261_134 as Range<UInt64>)
    func `is refused or unchanged in meaning whichever byte is changed`(seed: UInt64) throws {
        var numbers = SeededRandom(seed: seed)
        let expected = try expectedTransaction()
        var refused = 0
        for _ in 0..<2_500 {
            var changed = jws
            let place = Int.random(in: 0..<jws.count, using: &numbers)
            changed[place] ^= .random(in: 1...255, using: &numbers)
            do {
                #expect(try verify(changed) == expected)
            } catch is SignedDataError {
                refused += 1
            }
        }
        // Everything that is signed is refused; the header is signed as a whole.
        #expect(refused == 2_500)
    }
}
