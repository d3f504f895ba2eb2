import AppStore
import AppStoreStandIn
import Base
import Testing

@Suite struct `A question whether a certificate was revoked` {
    private let responder = RevocationResponder(authority)
    private let roots: RootCertificates
    private let questions: [RevocationQuestion]

    init() throws {
        roots = try RootCertificates(
            files: [Array(authority.rootsPEM.utf8)], allowPrivate: true)
        let transactions = SignedTransactionVerifier(roots: roots)
        let signed = try transactions.verified(authority.chain.sign(payload()), now: noon)
        let receipt = try AppReceiptVerifier(roots: roots).verified(
            ReceiptShop().receipt(), now: noon)
        questions = signed.path.revocationQuestions + receipt.path.revocationQuestions
    }

    private func status(
        _ question: RevocationQuestion, _ answer: [UInt8]?
    ) throws -> RevocationStatus {
        question.status(in: try #require(answer), roots: roots)
    }

    @Test(arguments: [
        (RevocationResponder.Answer.good, RevocationStatus.good), (.revoked, .revoked),
        (.unknown, .unknown),
    ])
    func `is answered for signers and their issuers`(
        answer: RevocationResponder.Answer, expected: RevocationStatus
    ) throws {
        responder.set(answer)
        #expect(questions.count == 4)
        for question in questions {
            #expect(try status(question, responder.respond(to: question.body)) == expected)
        }
    }

    @Test func `can be answered while certificate and issuer are valid`() {
        let tenYears: Int64 = 315_360_000
        for question in questions {
            #expect(question.isAnswerable(at: noon / 1000))
            #expect(!question.isAnswerable(at: noon / 1000 + tenYears))
            #expect(!question.isAnswerable(at: noon / 1000 - tenYears - 1))
        }
    }

    @Test func `is answered by its authority only, and about itself`() throws {
        let foreign = StandInAuthority(now: noon / 1000)
        let foreignRoots = try RootCertificates(
            files: [Array(foreign.rootsPEM.utf8)], allowPrivate: true)
        let answer = try #require(responder.respond(to: questions[0].body))
        #expect(questions[0].status(in: answer, roots: foreignRoots) == .unknown)
        for other in questions.dropFirst() { #expect(try status(other, answer) == .unknown) }
        #expect(RevocationResponder(foreign).respond(to: questions[0].body) == nil)
    }

    @Test func `has no answer in bytes that aren't one`() throws {
        let answer = try #require(responder.respond(to: questions[0].body))
        for end in answer.indices {
            #expect(try status(questions[0], Array(answer[..<end])) == .unknown)
        }
        let large = [UInt8](repeating: 0x30, count: 100_000)
        #expect(try status(questions[0], large) == .unknown)
        // OCSP's own way to say that it won't answer.
        #expect(try status(questions[0], [0x30, 0x03, 0x0A, 0x01, 0x06]) == .unknown)
        var numbers = SeededRandom(seed: 20_261_130)
        for _ in 0..<500 {
            var changed = answer
            let place = Int.random(in: 0..<answer.count, using: &numbers)
            changed[place] ^= .random(in: 1...255, using: &numbers)
            // Some bytes aren't signed; none of them makes a good certificate a revoked one.
            #expect(try status(questions[0], changed) != .revoked)
        }
    }

    @Test func `goes where the certificate says`() throws {
        #expect(questions.map(\.url) == [nil, nil, nil, nil])
        let validity = (noon / 1000 - 1000)..<(noon / 1000 + 1000)
        var profile = CertificateProfile.intermediate(validity: validity)
        profile.revocationURL = "http://ocsp.example.com/root"
        let intermediate = authority.root.issue(profile)
        profile = .leaf(validity: validity)
        profile.revocationURL = "http://ocsp.example.com/intermediate"
        let leaf = intermediate.issue(profile)
        let chain = SigningChain(
            certificates: [leaf.der, intermediate.der, authority.root.der], key: leaf.key)
        let path = try SignedTransactionVerifier(roots: roots).verified(
            chain.sign(payload()), now: noon
        ).path
        #expect(
            path.revocationQuestions.map(\.url) == [
                "http://ocsp.example.com/intermediate", "http://ocsp.example.com/root",
            ])
    }
}
