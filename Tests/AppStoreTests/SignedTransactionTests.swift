import AppStore
import AppStoreStandIn
import Base
import Testing

@Suite struct `A signed transaction` {
    private let verifier: SignedTransactionVerifier

    init() throws { verifier = SignedTransactionVerifier(roots: try roots()) }

    private func refusal(_ jws: String, now: Int64 = noon) throws -> SignedDataError? {
        do throws(SignedDataError) {
            _ = try verifier.verify(jws, now: now)
            return nil
        } catch {
            return error
        }
    }

    @Test func `is read field by field once it is verified`() throws {
        let jws = authority.chain.sign(payload())
        #expect(try verifier.verify(jws, now: noon) == expectedTransaction())
        // Again, from the cache of chains.
        #expect(try verifier.verify(jws, now: noon) == expectedTransaction())
        #expect(try verifier.verifyPayload(jws, now: noon) == payload().bytes)
    }

    @Test func `is verified quickly only under a header that was verified before`() throws {
        let jws = authority.chain.sign(payload())
        #expect(try verifier.verifiedIfKnown(jws, now: noon) == nil)
        _ = try verifier.verify(jws, now: noon)
        #expect(try verifier.verifiedIfKnown(jws, now: noon)?.transaction == expectedTransaction())
        let forged = authority.chain.sign(payload()).split(separator: ".")
        let other = authority.chain.sign("{}").split(separator: ".")
        let mixed = [forged[0], forged[1], other[2]].joined(separator: ".")
        #expect(throws: SignedDataError.badSignature) {
            try verifier.verifiedIfKnown(mixed, now: noon)
        }
    }

    @Test(arguments: [
        (ChainFault.wrongLeafMarker, SignedDataError.missingLeafMarker),
        (.wrongIntermediateMarker, .missingIntermediateMarker),
        (.intermediateIsNoAuthority, .notAnAuthority),
        (.leafOnOtherCurve, .unsupportedAlgorithm), (.twoCertificates, .wrongChainLength),
        (.fourCertificates, .wrongChainLength), (.expired, .certificateNotValidThen),
        (.foreignRoot, .untrustedChain),
    ])
    func `under a faulty chain is refused`(fault: ChainFault, error: SignedDataError) throws {
        #expect(try refusal(authority.chain(with: fault).sign(payload())) == error)
    }

    @Test func `needs a leaf on P-256 even if the signature has the right size`() throws {
        var chain = authority.chain(with: .leafOnOtherCurve)
        chain.key = SigningKey(.p256)
        #expect(try refusal(chain.sign(payload())) == .unsupportedAlgorithm)
    }

    @Test(arguments: ["none", "HS256", "ES384", "es256", ""])
    func `under another algorithm is refused`(algorithm: String) throws {
        let input = authority.chain.signingInput(payload().bytes, algorithm: algorithm)
        let signature = Base64.encode(authority.chain.key.sign(Array(input.utf8)), .url)
        #expect(try refusal(input + "." + signature) == .unsupportedAlgorithm)
        #expect(try refusal(input + ".") == .unsupportedAlgorithm)
    }

    @Test(arguments: [0, 1, 63, 65, 96, 128])
    func `with a signature of another size is refused`(size: Int) throws {
        let input = authority.chain.signingInput(payload().bytes)
        let signature = authority.chain.key.sign(Array(input.utf8)) + authority.chain.key.sign([])
        let cut = Base64.encode(Array(signature.prefix(size)), .url)
        #expect(try refusal(input + "." + cut) == .badSignature)
    }

    @Test func `with a signature in DER or of zeros is refused`() throws {
        let input = authority.chain.signingInput(payload().bytes)
        for signature in [[UInt8](repeating: 0, count: 64), [0x30, 0x06, 2, 1, 1, 2, 1, 1]] {
            let jws = input + "." + Base64.encode(signature, .url)
            #expect(try refusal(jws) == .badSignature)
        }
    }

    @Test func `with a changed payload is refused`() throws {
        let parts = authority.chain.sign(payload()).split(separator: ".")
        let changed = payload([("quantity", 10)]).bytes
        let jws = "\(parts[0]).\(Base64.encode(changed, .url)).\(parts[2])"
        #expect(try refusal(jws) == .badSignature)
    }

    @Test func `with an extension that must be understood is refused`() throws {
        let parts = authority.chain.sign(payload()).split(separator: ".")
        let header = String(
            decoding: try #require(Base64.decode(String(parts[0]), .url)), as: UTF8.self)
        let changed = #"{"crit":["b64"],"# + header.dropFirst()
        let jws = "\(Base64.encode(Array(changed.utf8), .url)).\(parts[1]).\(parts[2])"
        #expect(try refusal(jws) == .malformed)
    }

    @Test(arguments: ["", ".", "..", "a.b", "a.b.c.d", "e30.e30.e30.", "e30=.e30.AA", "{}.{}.AA"])
    func `of another shape is refused`(text: String) throws {
        #expect(try refusal(text) == .malformed)
    }

    @Test func `without certificates is refused`() throws {
        let header = Base64.encode(Array(#"{"alg":"ES256"}"#.utf8), .url)
        let jws = "\(header).e30.\(Base64.encode([UInt8](repeating: 1, count: 64), .url))"
        #expect(try refusal(jws) == .wrongChainLength)
    }

    @Test func `with certificates that can't be read is refused`() throws {
        for bytes in [[], [0x30], Array(authority.root.der.dropLast()), authority.root.der + [0]] {
            var chain = authority.chain
            chain.certificates[0] = bytes
            #expect(try refusal(chain.sign(payload())) == .malformedCertificate)
        }
    }

    @Test func `larger than any is refused before it is read`() throws {
        let jws = authority.chain.sign(
            payload([("note", .string(.init(repeating: "x", count: 65_000)))]))
        #expect(try refusal(jws) == .tooLarge)
    }

    @Test func `may be signed a day in the future and no more`() throws {
        let signed = noon + 86_400_000
        let jws = authority.chain.sign(payload([("signedDate", .integer(signed))]))
        #expect(try verifier.verify(jws, now: noon).signedDate == signed)
        #expect(try refusal(jws, now: noon - 1) == .signedInTheFuture)
    }

    @Test func `with a wrong signature says nothing of its payload`() throws {
        var chain = authority.chain
        chain.key = SigningKey(.p256)
        #expect(try refusal(chain.sign([])) == .badSignature)
        #expect(try refusal(authority.chain.sign([])) == .malformedPayload(field: ""))
    }

    @Test func `whose leaf is a root is refused`() throws {
        // The root itself as leaf, so that the path is shorter than the header claims.
        let root = authority.root
        let chain = SigningChain(
            certificates: [root.der, root.der, root.der], key: SigningKey(.p256))
        #expect(try refusal(chain.sign(payload())) == .wrongChainLength)
    }

    @Test func `may name any root, since only ours count`() throws {
        var chain = authority.chain
        chain.certificates[2] = [1, 2, 3]
        #expect(try verifier.verify(chain.sign(payload()), now: noon) == expectedTransaction())
    }
}
