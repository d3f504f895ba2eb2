import AppStoreStandIn
import Base
import Testing

@testable import AppStore

@Suite struct `A key with tables` {
    private let key: VerifiedKey
    private let signer: SigningKey

    init() throws {
        let chain = StandInAuthority(now: 1_796_000_000).chain
        signer = chain.key
        let leaf = try #require(Certificate(der: chain.certificates[0]))
        key = try #require(VerifiedKey(leaf))
    }

    /// Uses the key until it has its tables.
    private func warmUp() {
        for _ in 0..<VerifiedKey.usesBeforeTables { _ = key.verifies(signer.sign([1]), of: [1]) }
    }

    @Test func `judges signatures as OpenSSL does`() {
        warmUp()
        var random = SeededRandom(seed: 0x5EED)
        for round in 0..<500 {
            let text = (0..<Int(random.next() % 200)).map { _ in
                UInt8(truncatingIfNeeded: random.next())
            }
            let signature = signer.sign(text)
            #expect(key.verifies(signature, of: text))
            var damaged = signature
            damaged[Int(random.next() % 64)] ^= UInt8(1 << (random.next() % 8))
            #expect(
                key.verifies(damaged, of: text) == key.verifiesWithoutTables(damaged, of: text),
                "round \(round)")
            #expect(!key.verifies(signature, of: text + [0]))
        }
    }

    @Test func `refuses numbers out of range`() throws {
        warmUp()
        let order = try #require(
            Hex.decode("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"))
        let zero = [UInt8](repeating: 0, count: 32)
        let one = Array(zero.dropLast()) + [1]
        let most = [UInt8](repeating: 0xFF, count: 32)
        let good = signer.sign([1])
        for number in [zero, order, most] {
            #expect(!key.verifies(number + Array(good[32...]), of: [1]))
            #expect(!key.verifies(Array(good[..<32]) + number, of: [1]))
        }
        for number in [zero, one, order, most] {
            #expect(!key.verifies(number + number, of: [1]))
        }
        for length in [0, 1, 63, 65, 128] {
            #expect(!key.verifies([UInt8](repeating: 1, count: length), of: [1]))
        }
    }

    @Test func `accepts the other root of a signature, as the standard says`() throws {
        warmUp()
        // (r, n − s) is as good as (r, s).
        let order = try #require(
            Hex.decode("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"))
        let good = signer.sign([1])
        var borrow = 0
        var negated = [UInt8](repeating: 0, count: 32)
        for index in (0..<32).reversed() {
            let difference = Int(order[index]) - Int(good[32 + index]) - borrow
            borrow = difference < 0 ? 1 : 0
            negated[index] = UInt8(truncatingIfNeeded: difference)
        }
        #expect(key.verifies(Array(good[..<32]) + negated, of: [1]))
    }
}
